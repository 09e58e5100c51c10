#!/usr/bin/env python3
# Copyright (c) 2026 The proteus authors
#
# SPDX-License-Identifier: GPL-2.0-only
"""workloads/profiles/profile.py: what it reads and refuses; with PyTorch, what it measures."""

import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "workloads" / "profiles" / "profile.py"
SPEC = importlib.util.spec_from_file_location("proteus_profile", SCRIPT)
profile = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(profile)

try:
    import torch
except ImportError:
    torch = None

KERNELS = [
    {"gpu": "A100-SXM4-80GB", "operator": "gemm", "pass": "forward", "data_type": "fp32", "shape": [1, 16, 8, 4]},
    {"gpu": "A100-SXM4-80GB", "operator": "gemm", "pass": "weight-gradient", "data_type": "fp32", "shape": [2, 8, 8, 8]},
    {"gpu": "A100-SXM4-80GB", "operator": "convolution", "pass": "backward", "data_type": "fp32", "shape": [2, 4, 3, 6, 6, 3, 3]},
    {"gpu": "A100-SXM4-80GB", "operator": "convolution", "pass": "backward", "data_type": "fp32", "shape": [2, 4, 3, 6, 6, 3, 3, 2]},
    {"gpu": "A100-SXM4-80GB", "operator": "attention", "pass": "backward", "data_type": "fp32", "shape": [2, 8, 8, 4]},
    {"gpu": "A100-SXM4-80GB", "operator": "fused-attention", "pass": "backward", "data_type": "fp32", "shape": [2, 8, 8, 4]},
    {"gpu": "A100-SXM4-80GB", "operator": "fused-attention", "pass": "forward", "data_type": "fp32", "shape": [2, 8, 8, 6, 4]},
    {"gpu": "A100-SXM4-80GB", "operator": "normalization", "pass": "backward", "data_type": "fp32", "shape": [8, 16]},
    {"gpu": "A100-SXM4-80GB", "operator": "softmax", "pass": "forward", "data_type": "fp32", "shape": [8, 16]},
    {"gpu": "A100-SXM4-80GB", "operator": "elementwise", "pass": "forward", "data_type": "fp32", "shape": [4096]},
    {"gpu": "A100-SXM4-80GB", "operator": "embedding", "pass": "backward", "data_type": "fp32", "shape": [8, 4, 32]},
    {"gpu": "A100-SXM4-80GB", "operator": "optimizer", "pass": "forward", "data_type": "fp32", "shape": [2800]},
]


class Files(unittest.TestCase):
    """What is read."""

    def read(self, root):
        """Returns what the script makes of a file."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "k.json"
            path.write_text(root if isinstance(root, str) else json.dumps(root), encoding="utf-8")
            return profile.read_kernels(str(path))

    def wrap(self, *times):
        """Returns a file with these kernels."""
        return {"format": "proteus-profile", "version": 1, "times": list(times)}

    def test_reads_every_class(self):
        self.assertEqual(self.read(self.wrap(*KERNELS)), KERNELS)
        self.assertEqual({k["operator"] for k in KERNELS}, set(profile.SHAPE_SIZES))

    def test_mistakes_have_a_place(self):
        good = KERNELS[0]
        for changed, place in [
            ({"operator": "gem"}, "/times/1/operator"),
            ({"pass": "sideways"}, "/times/1/pass"),
            ({"data_type": "fp4"}, "/times/1/data_type"),
            ({"shape": [1, 2, 3]}, "/times/1/shape"),
            ({"shape": [1, 2, 3, 4, 5]}, "/times/1/shape"),
            ({"shape": [1, 2, 3, 0]}, "/times/1/shape"),
        ]:
            with self.assertRaises(profile.Mistake) as caught:
                self.read(self.wrap(good, {**good, **changed}))
            self.assertIn(place, str(caught.exception))
        for root in ("{", {"format": "other"}, self.wrap()):
            with self.assertRaises(profile.Mistake):
                self.read(root)


class Name(unittest.TestCase):
    """The script has the name of a module of Python's library."""

    def test_libraries_find_their_own_module(self):
        with tempfile.TemporaryDirectory() as folder:
            stub = pathlib.Path(folder) / "torch.py"
            stub.write_text("import cProfile\nraise ImportError(cProfile.__name__)\n", encoding="utf-8")
            kernels = pathlib.Path(folder) / "k.json"
            kernels.write_text(
                json.dumps({"format": "proteus-profile", "version": 1, "times": KERNELS}), encoding="utf-8"
            )
            done = subprocess.run(
                [sys.executable, str(SCRIPT), f"--kernels={kernels}", f"--output={folder}/o.json"],
                env={**os.environ, "PYTHONPATH": folder},
                capture_output=True,
                text=True,
                check=False,
            )
        self.assertEqual(done.returncode, 1)
        self.assertIn("PyTorch is missing", done.stderr)  # and not that "profile" has no "run"


class Shapes(unittest.TestCase):
    """What needs no GPU to be known."""

    def test_too_large_a_kernel_is_left_out(self):
        class Full:
            """A device without memory."""

            def prepare(self, kernel):
                raise RuntimeError("out of memory")

        log = io.StringIO()
        self.assertEqual(profile.profile(KERNELS[:1], Full(), "", log), [])
        self.assertIn("out of memory", log.getvalue())


@unittest.skipIf(torch is None, "python3-torch is not installed")
class Measures(unittest.TestCase):
    """What is measured, on the host."""

    def test_measures_every_class(self):
        bench = profile.Bench(torch, "cpu", 3)
        log = io.StringIO()
        entries = profile.profile(KERNELS, bench, "", log)
        has_fused = hasattr(torch.nn.functional, "scaled_dot_product_attention")  # from 2.0 on
        wanted = [k for k in KERNELS if has_fused or k["operator"] != "fused-attention"]
        self.assertEqual(len(entries), len(wanted), log.getvalue())
        for kernel, entry in zip(wanted, entries):
            self.assertEqual(entry["shape"], kernel["shape"])
            self.assertGreater(entry["time_us"], 0)

    def test_larger_products_take_longer(self):
        bench = profile.Bench(torch, "cpu", 5)
        sizes = ([1, 32, 32, 32], [1, 512, 512, 512])
        kernels = [{**KERNELS[0], "shape": shape} for shape in sizes]
        small, large = profile.profile(kernels, bench, "", io.StringIO())
        self.assertGreater(large["time_us"], small["time_us"])

    def test_leaves_out_what_has_no_kernel(self):
        log = io.StringIO()
        entries = profile.profile(
            [{**KERNELS[0], "data_type": "fp8"}], profile.Bench(torch, "cpu", 1), "", log
        )
        self.assertEqual(entries, [])
        self.assertIn("left out", log.getvalue())


if __name__ == "__main__":
    unittest.main()
