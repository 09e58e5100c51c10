#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The Python package against the programs it starts."""

import json
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

CLONE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CLONE / "bindings" / "python"))

import proteus  # noqa: E402

JOB = {"model": "gpt3-125m", "strategy": "tp=4,dp=2,globalBatch=4", "nodes": 1}


class Run(unittest.TestCase):
    def test_executors_side_by_side(self):
        job = proteus.run(**JOB, executor=["packet", "flow"])
        self.assertEqual(set(job.iteration_s), {"packet", "flow"})
        self.assertAlmostEqual(job.iteration_s["flow"] / job.iteration_s["packet"], 1, delta=0.05)

    def test_table_is_what_the_program_prints(self):
        job = proteus.run(**JOB, executor="flow")
        summary = job.table("summary").set_index("quantity")["value"]
        self.assertAlmostEqual(float(summary["iteration time"]), job.iteration_s["flow"], places=12)
        self.assertIn(f"{1e3 * job.iteration_s['flow']:.3f} ms", job.text)
        links = job.table("links")
        self.assertEqual(set(links.columns), set(links.attrs["units"]))

    def test_attribute_and_camel_case(self):
        slow = proteus.run(**JOB, executor="flow", launch_interval="500us")
        fast = proteus.run(**JOB, executor="flow", launchInterval="5us")
        self.assertGreater(slow.iteration_s["flow"], fast.iteration_s["flow"])

    def test_settings_may_be_a_dict(self):
        few = proteus.run(**JOB, executor="flow", variables={"layers": 2, "dropout": 0})
        same = proteus.run(**JOB, executor="flow", variables="layers=2,dropout=0")
        self.assertEqual(few.iteration_s, same.iteration_s)

    def test_warning_of_the_program_is_a_warning_here(self):
        with self.assertWarnsRegex(UserWarning, "--zero|zero=1 has no effect") as caught:
            proteus.run(**{**JOB, "strategy": "tp=4,dp=1,zero=1"}, executor="flow")
        self.assertEqual(caught.filename, __file__)

    def test_mistake_is_an_error_with_the_words_of_the_program(self):
        with self.assertRaisesRegex(proteus.Error, "dgx-x100"):
            proteus.run(**JOB, cluster="dgx-x100")
        with self.assertRaises(KeyError):
            proteus.run(**JOB, executor="flow").table("no such table")

    def test_fabrics_are_rows(self):
        job = {**JOB, "strategy": "tp=4,dp=4,globalBatch=4", "nodes": 2}
        table = proteus.fabrics(**job, fabrics=["leaf-spine", "fat-tree"], executor="flow")
        self.assertEqual(list(table["fabric"]), ["leaf-spine", "fat-tree"])
        self.assertTrue((table["iteration_s"] > 0).all())

    def test_flows_arrive(self):
        folder = CLONE / "workloads" / "flows"
        played = proteus.flows(folder / "switch-9.txt", folder / "incast-8.csv", congestion_control="none")
        self.assertEqual(len(played.table("flows")), 8)

    def test_options_twice_and_questions_are_errors(self):
        with self.assertRaisesRegex(proteus.Error, "launchInterval is given twice"):
            proteus.run(**JOB, launch_interval="5us", launchInterval="6us")
        with self.assertRaisesRegex(proteus.Error, "has run nothing(.|\n)*--strategy"):
            proteus.run(**JOB, help=True)

    def test_files_of_the_caller_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "job.json")
            job = proteus.run(**JOB, executor="flow", json=path)
            self.assertEqual(set(json.loads(path.read_text())["tables"]), set(job.tables))
            table = proteus.schedule(
                "alexnet",
                strategy="dp=2",
                policies="arrival",
                iterations=2,
                csv=pathlib.Path(folder, "t.csv"),
                attributes={"ns3::proteus::PacketNetwork::KernelCosts": True},
            )
            self.assertEqual(len(pathlib.Path(folder, "t.csv").read_text().splitlines()), len(table) + 1)


class Launch(unittest.TestCase):
    """What becomes of a program that does not run, or does not end as it should."""

    def fail(self, runner, **options):
        """Returns the error of a run that another command stands for."""
        with unittest.mock.patch.dict(os.environ, {"PROTEUS_RUN": runner}):
            with self.assertRaises(proteus.Error) as caught:
                proteus.run(**options)
        return str(caught.exception)

    def test_outputs_are_names_of_files(self):
        # open(True) is standard output.
        self.assertEqual("proteus-run: json=True is no name of a file", self.fail("true", json=True))
        self.assertEqual("proteus-run: summary=3 is no name of a file", self.fail("true", summary=3))
        with self.assertRaisesRegex(proteus.Error, "proteus-search: csv=True is no name of a file"):
            proteus.search("gpt3-125m", csv=True)

    def test_a_command_that_does_not_start(self):
        self.assertIn("/no/such, which runs it, does not start", self.fail("/no/such"))
        self.assertIn("is no command", self.fail(""))
        self.assertIn("is no command", self.fail("'sh"))
        self.assertIn("is no command", self.fail("sh", model="a\0b"))

    def test_a_killed_program_has_said_nothing_that_counts(self):
        said = self.fail("sh -c 'echo half a table; kill -9 $$'")
        self.assertIn("proteus-run was ended by signal 9", said)
        self.assertNotIn("half a table", said)
        self.assertEqual(self.fail("sh -c 'exit 3'"), "proteus-run ended with exit code 3")

    def test_what_a_program_says_need_not_be_text(self):
        self.assertIn("\udcff", self.fail("printf '\\377'"))
        self.assertIn("caf\udce9", self.fail("sh -c 'echo \"$3\" >&2; exit 1' x", model=b"caf\xe9"))

    def test_values_are_words(self):
        words = self.fail("echo", executor=(name for name in ["flow", ["ideal"]]), nodes=None)
        self.assertIn("--executor=flow,ideal", words)
        self.assertNotIn("--nodes", words)
        self.assertIn("must be a dict", self.fail("echo", attributes=["Pfc"]))

    def test_a_configuration_is_not_replaced_by_defaults(self):
        words = self.fail("echo", config="summary.json")
        self.assertNotIn("--cluster", words)
        self.assertNotIn("--executor", words)


class Others(unittest.TestCase):
    def test_collective(self):
        table = proteus.collective(cluster="dgx-a100", min="64K", max="1M", factor=4).table("collectives")
        self.assertEqual(list(table["size_bytes"]), [65536, 262144, 1048576])
        # busbw of 8 ranks is 7/4 of algbw
        for _, row in table.iterrows():
            self.assertAlmostEqual(row["busbw_bytes_per_s"] / row["algbw_bytes_per_s"], 1.75, places=6)

    def test_compile(self):
        result = proteus.compile("gpt3-125m", {"tp": 2, "dp": 2})
        self.assertIn("inventory", " ".join(result.tables))


class Notebook(unittest.TestCase):
    def test_cells_run(self):
        notebook = json.loads((CLONE / "doc" / "what-if.ipynb").read_text())
        names = {"QUICK": True}
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)  # pylint: disable=exec-used
        table = names["table"]
        self.assertGreaterEqual(len(table), 4)
        self.assertTrue((table["flows, ms"] > 0).all())


if __name__ == "__main__":
    unittest.main(verbosity=2)
