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
            json.dump({{"iteration_s": 2.0, "gpu": "A100"}}, summary)
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
            runs[0]["strategy"],
            "dp=64,tp=1,pp=1,globalBatch=64,zero=3,microBatch=1,recompute=full,recomputeEvery=2,optimizer=adam-foreach",
        )
        self.assertEqual((runs[0]["framework"], runs[0]["nodes"]), ("fsdp2", "8"))
        self.assertIn("torchtitan A100 bf16               5 rows", text)
        self.assertIn("even rows", text)

    def test_errors_are_told_by_framework_and_gpu(self):
        files = [f"--rows={FOLDER}/published-iterations{which}.csv" for which in ("-fourth", "")]
        text, runs = self.run_script("published-iterations.py", *files, "torchtitan")
        kinds = [line for line in text.splitlines() if "half within" in line]
        self.assertEqual(len(kinds), len({run["framework"] for run in runs}))
        self.assertEqual(sum(int(line.split()[2]) for line in kinds), len(runs))
        one, _ = self.run_script("published-iterations.py", "459.9 TFLOP/s")
        row, kind = (next(line for line in one.splitlines() if word in line) for word in ("replicas", "half within"))
        error = float(row.split()[-2])  # of one row all shares are the same
        self.assertIn(f"half within {abs(error):4.1f} %, nine of ten within {abs(error):4.1f} %, mean {error:+5.1f} %", kind)

    def test_errors_are_written_and_printed_as_a_table(self):
        kind = {"gpu": "A100", "gpus": ["A100"], "rows": 1, "halfWithin": 0, "nineOfTenWithin": 0, "mean": 0, "what": "GPT"}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "errors.json"
            kinds = [{"framework": framework, **kind} for framework in ("megatron-2022", "apex")]
            path.write_text(json.dumps({"format": "proteus-published-errors", "version": 1, "errors": kinds}))
            text, _ = self.run_script("published-iterations.py", f"--errors={path}")
            written = json.loads(path.read_text())
        self.assertEqual(written["version"], 1)
        rows = {entry["framework"]: entry for entry in written["errors"]}
        for framework in rows:
            line = next(line for line in text.splitlines() if line.startswith(f"{framework} ") and "half within" in line)
            self.assertEqual(int(line.split()[2]), rows[framework]["rows"])
            self.assertIn(f"half within {100 * rows[framework]['halfWithin']:4.1f} %", line)
            self.assertIn(f"mean {100 * rows[framework]['mean']:+5.1f} %", line)
            self.assertRegex(text, rf"``{framework}``\s+A100\s+{rows[framework]['rows']} ")
        absent = [line for line in text.splitlines() if "has no entry for" in line or "is left out" in line]
        known = [line.split()[0] for line in text.splitlines() if "half within" in line and "rows," in line]
        self.assertEqual(len(known), len(rows) + len([line for line in absent if "no entry" in line]))

    def test_errors_of_logs_are_those_of_the_manual(self):
        with tempfile.TemporaryDirectory() as folder:
            written = pathlib.Path(folder) / "logs.json"
            command = [sys.executable, FOLDER / "published-logs.py", f"--write={written}"]
            table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            self.assertEqual(written.read_text(), (FOLDER / "published-logs.json").read_text())
        self.assertIn(table, (FOLDER.parents[1] / "doc" / "measured-collectives.rst").read_text(encoding="utf-8"))

    def test_errors_of_flows_are_those_of_the_manual(self):
        command = [sys.executable, FOLDER / "flow-errors.py"]
        table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertIn(table, (FOLDER.parents[1] / "doc" / "flow-level.rst").read_text(encoding="utf-8"))

    def test_errors_of_flows_are_counted_by_work_and_setting(self):
        rows = [f"{number},models,presets,{100 + number},100,a server,--x" for number in range(1, 12)]
        rows += ["20,models,presets,900,100,,--hpcc", "21,graphs,presets,90,100,a server,--x"]
        with tempfile.TemporaryDirectory() as folder:
            table, written = pathlib.Path(folder) / "jobs.csv", pathlib.Path(folder) / "errors.json"
            command = [sys.executable, FOLDER / "flow-errors.py", table, f"--write={written}"]
            table.write_text("\n".join(rows) + "\n")
            text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            errors = json.loads(written.read_text())["errors"]
            table.write_text(rows[0] + ",more\n")
            refused = subprocess.run(command, capture_output=True, text=True)
        self.assertRegex(text, r"a server +11 +6\.0 % +10\.0 % +11\.0 %")
        self.assertEqual([(entry["work"], entry["jobs"], entry["most"]) for entry in errors], [("models", 11, 0.11)])
        self.assertEqual(refused.returncode, 1)
        self.assertIn("line 1: is no line of random-jobs.py --csv", refused.stderr)

    def test_errors_of_logs_are_counted_by_kind(self):
        bar = "=" * 40 + "".join("  " + "=" * 16 for _ in range(4))
        rows = [("Log", "NCCL", "Peak, %", "<1 MiB, %", ">=1 MiB, %")]
        rows += [(f"{number} x 8 H100", "2.19", f"+{number} (-{number + 1})", "-", "4") for number in range(2, 9)]
        rows += [("the same, all-gather", "2.19", "-1.0, +30", "-", "4 to 5")]
        rows += [(f"{number} x 8 H100, EFA", "2.19", f"+{number}", "-", "4") for number in range(2, 6)]
        rows += [("4 x 8 of them", "2.19", "+40", "-", "4"), ("4 x 8 A100, EFA", "2.19", "+50, +60", "-", "4, 5")]
        rows += [("2 x 8 H100, host memory", "2.19", "+7", "-", "4"), ("the same, reported slow", "2.19", "+900", "-", "99")]
        cells = ["  ".join(cell.ljust(width) for cell, width in zip(row, (40, 16, 16, 16, 16))) for row in rows]
        text = "\n".join(["Logs That Nothing Was Fitted To", bar, cells[0], bar, *cells[1:], bar])
        with tempfile.TemporaryDirectory() as folder:
            manual = pathlib.Path(folder) / "manual.rst"
            command = [sys.executable, FOLDER / "published-logs.py", f"--manual={manual}"]
            manual.write_text(text)
            table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            self.assertRegex(table, r"H200.* several, NICs at GPUs +9 +5\.0 / 30\.0 +6\.0 / 30\.0")  # of 1, 2 to 8, 30; and 1, 3 to 9, 30
            self.assertRegex(table, r"all +several, a plug-in +7 +5\.0 / 60\.0 ")  # 2 to 5, 40, 50 and 60
            self.assertNotRegex(table, "(H200|A100).* a plug-in")  # five and two
            self.assertRegex(table, "all +several, over CPUs +1 .*\n.* several, reported slow +1 ")
            manual.write_text(text.replace("2 x 8 H100", "2 x 8 X100", 1))
            refused = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("line 5: 2 x 8 X100: names no GPU that is known", refused.stderr)

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

    def test_all_collections_hold_together(self):
        sys.path.insert(0, str(FOLDER))
        import published_rows

        counts = {}
        for path in sorted(FOLDER.glob("published-iterations-*.csv")):
            with open(path, encoding="ascii") as file:
                columns = next(csv.reader(line for line in file if not line.startswith("#")))
            rows = published_rows.read_table(path, columns)
            for line, row in rows:
                published_rows.check_iteration(line, row)
            counts[path.stem.split("-", 2)[2]] = len(rows)
        self.assertEqual(
            counts,
            {
                "third": 67,
                "fourth": 13,
                "fifth": 76,
                "sixth": 46,
                "seventh": 72,
                "eighth": 154,
                "ninth": 65,
                "tenth": 47,
                "eleventh": 95,
                "twelfth": 31,
                "thirteenth": 91,
                "fourteenth": 45,
                "fifteenth": 51,
                "sixteenth": 58,
                "seventeenth": 68,
                "eighteenth": 42,
                "twentieth": 58,
                "twenty-first": 41,
                "twenty-second": 10,
                "twenty-third": 17,
                "twenty-fourth": 69,
                "twenty-fifth": 29,
                "twenty-sixth": 39,
                "twenty-seventh": 34,
                "twenty-eighth": 11,
                "twenty-ninth": 16,
                "thirtieth": 15,
                "thirty-first": 16,
                "thirty-second": 21,
                "thirty-third": 19,
                "nineteenth": 62,
                "experts": 30,
                "held-out": 66,
            },
        )

    def refuse(self, script, text, encoding="utf-8"):
        """Returns what a script says of a table that it refuses, behind the name of the file."""
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder) / "rows.csv"
            rows.write_text(text, encoding=encoding)
            done = subprocess.run(
                [sys.executable, FOLDER / script, f"--rows={rows}", "--program=/bin/false"], capture_output=True, text=True
            )
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
        start = f"{script}: error: {rows}"
        self.assertEqual(done.stderr[: len(start)], start)
        return done.stderr[len(start) :].strip()

    def test_mistakes_in_published_rows_are_refused(self):
        header = "group,model,variables,cluster,dp,tp,pp,options,global_batch,framework,measured_s,published,first_s\n"
        row = "g,gpt,sequence=1024,dgx-h100,4,2,1,microBatch=2,16,ddp,2.0,8192 tokens/s (8 GPUs),1.9\n"
        refuse = lambda text: self.refuse("published-iterations.py", text)
        self.assertEqual(refuse("# remark\n" + header + row), ":3: the program ended with exit code 1")
        self.assertEqual(refuse("\ufeff" + header.replace("\n", "\r\n") + row), ":2: the program ended with exit code 1")
        without = row.replace("sequence=1024", '"sequence=1024,dropout=0"')
        self.assertEqual(refuse(header + without), ":2: the program ended with exit code 1")
        self.assertEqual(refuse(""), ": has no row")
        self.assertEqual(refuse(header + "# remark\n"), ": has no row")
        self.assertIn(":1: the columns must be group, model", refuse(header.replace("tp", "dp") + row))
        self.assertIn(":1: the columns must be", refuse(header.replace(",first_s", "") + row))
        self.assertEqual(refuse(header + row.replace(",1.9", "")), ":2: has 12 fields for 13 columns")
        self.assertEqual(refuse(header + row + "\n" + row), ":4: says the same as line 2")
        self.assertIn("is not UTF-8", self.refuse("published-iterations.py", header + row, "utf-16"))
        for old, new, says in (
            (",4,2,1,", ",4,0,1,", "tp must be a whole number from 1, not '0'"),
            (",4,2,1,", ",4,2.0,1,", "tp must be a whole number from 1, not '2.0'"),
            (",4,2,1,", ",-4,2,1,", "dp must be a whole number from 1, not '-4'"),
            (",4,2,1,", ",4,4,1,", "dp x tp x pp x cp is 16, but published says 8 GPUs"),
            (",16,", ",20,", "global_batch = 20 is not a multiple of 8 = dp x microBatch"),
            (",2.0,", ",nan,", "measured_s must be a number above 0 to 1e+06, not 'nan'"),
            (",2.0,", ',"2,0",', "measured_s must be a number above 0 to 1e+06, not '2,0'"),
            (",2.0,", ",2000,", "measured_s = 2000, but 2 s follow from 8192 tokens/s (8 GPUs)"),
            (",1.9", ",-1.9", "first_s must be a number above 0 to 1e+06, not '-1.9'"),
            ("microBatch=2", '"microBatch=2,microBatch=1"', "options: microBatch stands there twice"),
            ("microBatch=2", "microBatch=2=2", "options: 'microBatch=2=2' is not NAME=VALUE"),
            ("microBatch=2", "microBatch", "options: 'microBatch' is not NAME=VALUE"),
            ("microBatch=2", '"microBatch=2,dp=2"', "options: dp has a column of its own"),
            ("sequence=1024", "sequence=1k", "variables: sequence must be a whole number from 1, not '1k'"),
            (",dgx-h100,", ",,", "cluster is empty"),
        ):
            self.assertEqual(refuse(header + row.replace(old, new)), ":2: " + says)

    def test_mistakes_in_rows_of_llm_foundry_are_refused(self):
        header = "model,sequence,gpus,gpu,micro_batch,micro_batches,zero,recompute,tokens_per_s\n"
        row = "30b,8192,8,h100_80gb,1,21,3,full,11072\n"
        refuse = lambda text: self.refuse("llm-foundry.py", text)
        self.assertEqual(refuse(header + row), ":2: the program ended with exit code 1")
        for old, new, says in (
            ("30b", "31b", "model must be one of 125m, 350m, 760m, 1b, 3b, 7b, 13b, 30b, 70b, not '31b'"),
            ("h100_80gb", "H100", "gpu must be one of h100_80gb, a100_80gb, not 'H100'"),
            (",8,", ",12,", "gpus = 12 fill no servers of 8"),
            ("11072", "inf", "tokens_per_s must be a number above 0 to 1e+09, not 'inf'"),
        ):
            self.assertEqual(refuse(header + row.replace(old, new)), ":2: " + says)

    def test_words_that_no_row_has_are_refused(self):
        done = subprocess.run(
            [sys.executable, FOLDER / "published-iterations.py", "nowhere"], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("no row has 'nowhere' in it", done.stderr)


if __name__ == "__main__":
    unittest.main()
