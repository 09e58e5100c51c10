#!/usr/bin/env python3
# Copyright (c) 2026 The proteus authors
#
# SPDX-License-Identifier: GPL-2.0-only
"""workloads/evaluation/*.py: rows, commands and errors, with a program that answers at once."""

import csv
import json
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "workloads" / "evaluation"
# Answers as proteus-run does: 1000 tokens per second, 2 s per iteration; and keeps its arguments.
PROGRAM = """#!{python}
import json, sys
with open({log!r}, "a") as log:
    print(json.dumps(sys.argv[1:]), file=log)
for argument in sys.argv:
    if argument.startswith("--summary="):
        with open(argument[10:], "w") as summary:
            json.dump({{"iteration_s": 2.0}}, summary)
print("  throughput      1000 tokens/s")
"""


class EvaluationTest(unittest.TestCase):
    def run_script(self, name, *arguments):
        """Returns what a script prints, and the options of each of its runs."""
        with tempfile.TemporaryDirectory() as folder:
            program, log = pathlib.Path(folder) / "program", pathlib.Path(folder) / "log"
            program.write_text(PROGRAM.format(python=sys.executable, log=str(log)))
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            text = subprocess.run(
                [sys.executable, FOLDER / name, f"--program={program}", *arguments],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            runs = [json.loads(line) for line in log.read_text().splitlines()]
        return text, [dict(option[2:].split("=", 1) for option in run if "=" in option) for run in runs]

    def test_llm_foundry_rows_are_predicted(self):
        text, runs = self.run_script("llm-foundry.py", "30b,8192,8,h100_80gb")
        self.assertEqual(len(runs), 1)
        self.assertEqual(runs[0]["strategy"], "dp=8,zero=3,microBatch=1,globalBatch=168,recompute=full")
        self.assertIn("layers=48,hidden=7168,heads=56", runs[0]["variables"])
        self.assertEqual((runs[0]["cluster"], runs[0]["nodes"]), ("dgx-h100", "1"))
        self.assertIn("+1007.2 %", text)  # 11072 tokens per second were measured
        self.assertIn("h100_80gb to 8,192  tokens:   1 rows, error 1007.2 %", text)

    def test_published_rows_are_predicted(self):
        text, runs = self.run_script("published-iterations.py", "torchtitan")
        self.assertEqual(len(runs), 5)
        self.assertEqual(
            runs[0]["strategy"], "dp=64,tp=1,pp=1,globalBatch=64,zero=3,microBatch=1,recompute=full,recomputeEvery=2"
        )
        self.assertEqual((runs[0]["framework"], runs[0]["nodes"]), ("fsdp2", "8"))
        self.assertIn("torchtitan A100 bf16               5 rows", text)
        self.assertIn("even rows", text)

    def test_replicas_of_large_jobs_are_left_out(self):
        _, runs = self.run_script("published-iterations.py", "--maximumGpus=256", "459.9 TFLOP/s")
        self.assertTrue(runs[0]["strategy"].startswith("dp=2,tp=8,pp=16,globalBatch=128,"))
        self.assertEqual(runs[0]["nodes"], "32")

    def test_rows_hold_whole_micro_batches(self):
        with open(FOLDER / "published-iterations.csv", encoding="ascii") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        self.assertEqual(len(rows), 126)
        for row in rows:
            options = dict(option.split("=") for option in row["options"].split(","))
            self.assertEqual(int(row["global_batch"]) % (int(row["dp"]) * int(options["microBatch"])), 0, row)
            self.assertGreater(float(row["measured_s"]), 0)


if __name__ == "__main__":
    unittest.main()
