#!/usr/bin/env python3
# Copyright (c) 2026 The proteus authors
#
# SPDX-License-Identifier: GPL-2.0-only
"""workloads/measurements/fit.py, with a program that answers at once and has its minimum where the test knows it."""

import json
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "workloads" / "measurements" / "fit.py"
# Answers as proteus-validate does, LL and a ring at all sizes: times are the measured ones if startUs of LL is 11.
PROGRAM = """#!{python}
import csv, json, os, sys
options = dict(argument[2:].split("=", 1) for argument in sys.argv[1:] if "=" in argument)
if "saveKernelCosts" in options:
    numbers = {{"startUs": {{"LL": {{"value": 8, "source": "fitted"}}}},
               "busyUs": {{"LL": {{"value": 0.1, "source": "fitted"}}, "Simple": {{"value": 0.4, "source": "published"}}}},
               "blockGBps": {{"LL": {{"value": 5, "source": "published"}}}}}}
    launch = {{n: {{"value": 1, "source": "m"}} for n in ("kernelUs", "channelUs", "peerUs", "sharedThreadUs")}}
    with open(options["saveKernelCosts"], "w") as file:
        json.dump({{"generations": {{g: numbers for g in ("V100", "A100", "H100", "B200")}}, "launch": launch}}, file)
    sys.exit(0)
with open(options["kernelCosts"]) as file:
    start = json.load(file)["generations"]["B200"]["startUs"]["LL"]["value"]
with open(options["csv"], "w") as out, open({log!r}, "a") as log:
    print("table,size_bytes,simulated_us,algorithm,protocol", file=out)
    with open(os.path.join(options["directory"], "tables.csv")) as file:
        for table in csv.DictReader(file):
            print(table["file"], file=log)
            with open(os.path.join(options["directory"], table["file"])) as rows:
                for row in csv.DictReader(rows):
                    time = float(row["time_us"]) * start / 11
                    print(table["file"][:-4], row["size_bytes"], time, "ring", "LL", sep=",", file=out)
"""


class FitTest(unittest.TestCase):
    def run_script(self, *arguments):
        """Returns what the script did, the numbers that it wrote, and the tables of each run."""
        with tempfile.TemporaryDirectory() as folder:
            program, log, output = (pathlib.Path(folder) / name for name in ("program", "log", "output"))
            program.write_text(PROGRAM.format(python=sys.executable, log=str(log)))
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            done = subprocess.run(
                [sys.executable, SCRIPT, f"--program={program}", f"--output={output}", "--brief", *arguments],
                capture_output=True,
                text=True,
                check=False,
            )
            numbers = json.loads(output.read_text()) if output.exists() else None
            return done, numbers, log.read_text().split() if log.exists() else []

    def test_finds_the_minimum_without_the_tables_that_are_left_out(self):
        done, numbers, tables = self.run_script("--generations=B200", "--holdOut=b200-8-all-reduce", "--sizes=3")
        self.assertEqual(done.returncode, 0, done.stderr)
        start = numbers["generations"]["B200"]["startUs"]["LL"]
        self.assertAlmostEqual(start["value"], 11, delta=0.5)
        self.assertIn("left out: b200-8-all-reduce", start["source"])
        self.assertEqual(tables.count("b200-8-all-reduce.csv"), 1)  # which protocol its sizes have
        self.assertGreater(tables.count("b200-8-send-recv.csv"), 5)
        # Numbers that are published, and other generations, stay.
        self.assertEqual(numbers["generations"]["B200"]["blockGBps"]["LL"]["value"], 5)
        self.assertEqual(numbers["generations"]["B200"]["busyUs"]["Simple"]["value"], 0.4)
        self.assertEqual(numbers["generations"]["A100"]["startUs"]["LL"]["value"], 8)
        # What changes nothing stays at its start.
        self.assertEqual(numbers["generations"]["B200"]["busyUs"]["LL"]["value"], 0.5)

    def test_a_number_that_no_table_informs_says_so(self):
        done, numbers, _ = self.run_script(
            "--generations=H100,B200",
            "--holdOut=b200-8-all-reduce,b200-8-send-recv,2-x-b200-16-send-recv",
            "--sizes=3",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        start = numbers["generations"]["B200"]["startUs"]["LL"]
        self.assertEqual(start["value"], 6.6)
        self.assertIn("no table informs it", start["source"])

    def test_mistakes_are_named(self):
        left_out = "--holdOut=b200-8-all-reduce,b200-8-send-recv,2-x-b200-16-send-recv"
        for options, hint in (
            (["--holdOut=z9000"], "no table of tables.csv"),
            (["--generations=P100"], "there are V100"),
            (["--generations=B200", left_out], "no table of --generations"),
        ):
            done, _, _ = self.run_script(*options)
            self.assertEqual(done.returncode, 1)
            self.assertIn(hint, done.stderr)


if __name__ == "__main__":
    unittest.main()
