#!/usr/bin/env python3
# Copyright (c) 2026 The proteus authors
#
# SPDX-License-Identifier: GPL-2.0-only
"""Measures the kernels of a model with PyTorch, for --profile.

    proteus-compile --model=gpt3-1.3b --strategy=dp=8 --gpu=A100-SXM4-80GB --kernels=kernels.json
    profile.py --kernels=kernels.json --output=profile.json
    proteus-run --model=gpt3-1.3b --strategy=dp=8 --profile=profile.json

The first command lists every kernel that the job has, by operator, pass, number format and shape, with
its computed time. This script runs each of them on the GPU and writes what it measured in the same
format. What PyTorch has no kernel for here is left out, with a line on stderr, and keeps its computed
time. --device=cpu runs on the host, to try the script where no GPU is.

On a GPU every run is timed between two events that the host issues while the GPU is still busy with a
pause before them: the host's own time is not in it, and what two events take by themselves is
subtracted. Before every run the second-level cache is filled with other data, as in training, where
weights and saved activations were last touched a pass ago; --warm leaves operands in it. --search lets
cuDNN try its kernels, --channelsLast lays images out so in every format (else only in 16 bits), --flash
takes PyTorch's own FlashAttention where it would take cuDNN's.
"""

import argparse
import json
import os
import statistics
import sys
import time

# This script has the name of a module of Python, which PyTorch imports: its folder must not go first.
_FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path = [path for path in sys.path if os.path.abspath(path or ".") != _FOLDER]

FORMAT = "proteus-profile"
VERSION = 1
SHAPE_SIZES = {
    "gemm": 4,
    "convolution": 7,
    "attention": 4,
    "fused-attention": 4,
    "normalization": 2,
    "softmax": 2,
    "elementwise": 1,
    "embedding": 3,
    "optimizer": 1,
}
PASSES = ("forward", "backward", "input-gradient", "weight-gradient")
DATA_TYPES = ("fp32", "tf32", "bf16", "fp16", "fp8")
# The GPU waits so long, about 5 ms, for the host to issue so many runs.
PAUSE_CYCLES = 10_000_000
RUNS_PER_PAUSE = 10


class Mistake(Exception):
    """Something that the user can mend."""


def read_kernels(path):
    """Returns the list of kernels of a file, checked as the C++ reader checks it."""
    try:
        with open(path, encoding="utf-8") as file:
            root = json.load(file)
    except (OSError, ValueError) as error:
        raise Mistake(f"{path}: {error}") from error
    if not isinstance(root, dict) or root.get("format") != FORMAT or root.get("version") != VERSION:
        raise Mistake(f'{path}: "format" must be "{FORMAT}" and "version" {VERSION}')
    times = root.get("times")
    if not isinstance(times, list) or not times:
        raise Mistake(f"{path}: /times: must be a list of kernels, and not empty")
    for i, kernel in enumerate(times):
        where = f"{path}: /times/{i}"
        if not isinstance(kernel, dict):
            raise Mistake(f"{where}: must be an object")
        operator = kernel.get("operator")
        if operator not in SHAPE_SIZES:
            raise Mistake(f"{where}/operator: {operator!r} is none of {', '.join(SHAPE_SIZES)}")
        if kernel.get("pass", "forward") not in PASSES:
            raise Mistake(f"{where}/pass: must be one of {', '.join(PASSES)}")
        if kernel.get("data_type", "bf16") not in DATA_TYPES:
            raise Mistake(f"{where}/data_type: must be one of {', '.join(DATA_TYPES)}")
        shape = kernel.get("shape")
        if operator == "fused-attention" and isinstance(shape, list) and len(shape) == 5:
            size = 5  # values of another width than queries and keys: latent attention
        elif operator == "convolution" and isinstance(shape, list) and len(shape) == 8:
            size = 8  # groups of channels, whose sizes the others are
        else:
            size = SHAPE_SIZES[operator]
        if (
            not isinstance(shape, list)
            or len(shape) != size
            or any(not isinstance(size, int) or size < 1 for size in shape)
        ):
            raise Mistake(f"{where}/shape: must be {SHAPE_SIZES[operator]} whole numbers above 0")
    return times


class Bench:
    """Makes what a kernel needs, and times it."""

    def __init__(self, torch, device, repeats, is_warm=False):
        self.torch = torch
        self.device = torch.device(device)
        self.repeats = repeats
        self.is_warm = is_warm
        self.filler = None
        self.channels_last = False
        self.event_ms = 0

    def fill_cache(self):
        """Reads twice as much as the second-level cache has."""
        if self.filler is None:
            cache = self.torch.cuda.get_device_properties(self.device).L2_cache_size
            self.filler = self.torch.zeros(2 * cache // 4, device=self.device)
        self.filler.sum()

    def type_of(self, name):
        """Returns the type of tensors; None for what PyTorch cannot multiply here."""
        torch = self.torch
        if self.device.type == "cuda":
            torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
            torch.backends.cudnn.allow_tf32 = name == "tf32"
        return {
            "fp32": torch.float32,
            "tf32": torch.float32,
            "bf16": torch.bfloat16,
            "fp16": torch.float16,
        }.get(name)

    def random(self, dtype, *sizes):
        """Returns normally distributed numbers: data decide the power, and so the clock, of a GPU."""
        return self.torch.randn(*sizes, device=self.device, dtype=dtype)

    def prepare(self, kernel):
        """Returns a function that runs the kernel once; None if there is none."""
        name = kernel.get("data_type", "bf16")
        if name == "fp8" and kernel["operator"] == "gemm" and kernel["shape"][0] == 1:
            return self.make_fp8_gemm(kernel["shape"], kernel.get("pass", "forward"))
        if name == "fp8" and kernel["operator"] not in ("gemm", "convolution"):
            name = "bf16"  # what is no product has 16 bits
        dtype = self.type_of(name)
        if dtype is None:
            return None
        maker = getattr(self, "make_" + kernel["operator"].replace("-", "_"))
        return maker(kernel["shape"], kernel.get("pass", "forward"), dtype)

    def make_product(self, shape, part, dtype):
        """One product, with its operands laid out as a linear layer has them in this pass."""
        batch, m, n, k = shape
        size = (batch,) if batch > 1 else ()
        if part == "weight-gradient":  # both are summed over their rows
            a = self.random(dtype, *size, k, m).transpose(-1, -2)
        else:
            a = self.random(dtype, *size, m, k)
        if part == "forward":  # a weight has a row for each output
            b = self.random(dtype, *size, n, k).transpose(-1, -2)
        else:
            b = self.random(dtype, *size, k, n)
        out = self.torch.empty(*size, m, n, device=self.device, dtype=dtype)
        return lambda: self.torch.matmul(a, b, out=out)

    def make_gemm(self, shape, part, dtype):
        """Products; of a backward pass that is one entry, those of both gradients."""
        if part != "backward":
            return self.make_product(shape, part, dtype)
        batch, m, n, k = shape
        first = self.make_product(shape, "input-gradient", dtype)
        second = self.make_product([batch, k, n, m], "weight-gradient", dtype)

        def run():
            first()
            second()

        return run

    def make_fp8_gemm(self, shape, part):
        """A product in fp8, and the kernel that quantises what comes in, both ways round."""
        torch = self.torch
        if self.device.type != "cuda" or torch.cuda.get_device_capability(self.device) < (8, 9):
            return None
        _, m, n, k = shape
        if m % 16 or n % 16 or k % 16 or part == "backward":
            return None
        fp8 = torch.float8_e4m3fn
        # The units multiply only operands that are contiguous in what is summed over.
        x = self.random(torch.bfloat16, m, k)
        a = x.to(fp8)
        b = self.random(torch.bfloat16, n, k).to(fp8).t()
        one = torch.ones((), device=self.device)

        def multiply():
            return torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16, use_fast_accum=True)

        if part == "weight-gradient":  # its operands are quantised already
            return multiply
        rows, turned = torch.empty_like(a), torch.empty(k, m, device=self.device, dtype=fp8)

        def run():
            rows.copy_(x)
            turned.copy_(x.t())
            return multiply()

        return run

    def make_convolution(self, shape, part, dtype):
        """Channels last in 16 bits, as tensor cores want them; stride 1 with the output's size."""
        batch, filters, channels, height, width, rows, columns = shape[:7]
        groups = shape[7] if len(shape) > 7 else 1  # filters and channels are those of one
        torch = self.torch
        x = self.random(dtype, batch, groups * channels, height + rows - 1, width + columns - 1)
        w = self.random(dtype, groups * filters, channels, rows, columns)
        if self.channels_last or dtype in (torch.float16, torch.bfloat16):
            x = x.to(memory_format=torch.channels_last)
            w = w.to(memory_format=torch.channels_last)
        if part == "forward":
            return lambda: torch.nn.functional.conv2d(x, w, groups=groups)
        y = torch.nn.functional.conv2d(x, w, groups=groups)
        masks = {
            "input-gradient": [True, False, False],
            "weight-gradient": [False, True, False],
            "backward": [True, True, False],
        }
        return lambda: torch.ops.aten.convolution_backward(
            y, x, w, [0], [1, 1], [0, 0], [1, 1], False, [0, 0], groups, masks[part]
        )

    def with_backward(self, function, inputs, part):
        """Returns the forward pass, or the backward pass of what it made."""
        torch = self.torch
        if part == "forward":
            return lambda: function(*inputs)
        for tensor in inputs:
            tensor.requires_grad_(tensor.is_floating_point())
        y = function(*inputs)
        gradient = torch.randn_like(y)
        wanted = [tensor for tensor in inputs if tensor.requires_grad]
        return lambda: torch.autograd.grad(y, wanted, gradient, retain_graph=True)

    def make_attention(self, shape, part, dtype):
        """Product, softmax, dropout, product."""
        matrices, queries, keys, head = shape
        torch = self.torch
        q = self.random(dtype, matrices, queries, head)
        k = self.random(dtype, matrices, keys, head)
        v = self.random(dtype, matrices, keys, head)

        def attend(q, k, v):
            scores = torch.softmax(q @ k.transpose(1, 2) * head**-0.5, -1)
            return torch.nn.functional.dropout(scores, 0.1) @ v

        return self.with_backward(attend, [q, k, v], part)

    def make_fused_attention(self, shape, part, dtype):
        """scaled_dot_product_attention, causal where queries and keys are as many."""
        matrices, queries, keys, head = shape[:4]
        function = getattr(self.torch.nn.functional, "scaled_dot_product_attention", None)
        if function is None:
            return None  # before PyTorch 2.0
        q = self.random(dtype, 1, matrices, queries, head)
        k = self.random(dtype, 1, matrices, keys, head)
        v = self.random(dtype, 1, matrices, keys, shape[-1])
        return self.with_backward(
            lambda q, k, v: function(q, k, v, is_causal=queries == keys), [q, k, v], part
        )

    def make_normalization(self, shape, part, dtype):
        """Layer norm over the columns."""
        rows, columns = shape
        x = self.random(dtype, rows, columns)
        weight = self.random(dtype, columns)
        bias = self.random(dtype, columns)
        function = self.torch.nn.functional.layer_norm
        return self.with_backward(
            lambda x, weight, bias: function(x, (columns,), weight, bias), [x, weight, bias], part
        )

    def make_softmax(self, shape, part, dtype):
        """Softmax over the columns."""
        x = self.random(dtype, *shape)
        return self.with_backward(lambda x: self.torch.softmax(x, -1), [x], part)

    def make_elementwise(self, shape, part, dtype):
        """A copy that moves so many bytes, half of them read."""
        del part
        element = self.torch.finfo(dtype).bits // 8
        x = self.torch.ones(max(1, shape[0] // (2 * element)), device=self.device, dtype=dtype)
        y = self.torch.empty_like(x)
        return lambda: y.copy_(x)

    def make_embedding(self, shape, part, dtype):
        """Rows of a table."""
        tokens, columns, rows = shape
        table = self.random(dtype, rows, columns)
        index = self.torch.randint(rows, (tokens,), device=self.device)
        return self.with_backward(
            lambda table: self.torch.nn.functional.embedding(index, table), [table], part
        )

    def make_optimizer(self, shape, part, dtype):
        """Fused Adam over as many parameters as move so many bytes: 28 each, all in fp32."""
        del part, dtype
        torch = self.torch
        parameter = torch.ones(max(1, shape[0] // 28), device=self.device, requires_grad=True)
        parameter.grad = torch.ones_like(parameter)
        fused = self.device.type == "cuda"
        return torch.optim.Adam([parameter], fused=fused).step

    def measure(self, run):
        """Returns the median time of one run, in microseconds."""
        for _ in range(3):
            run()
        return self.measure_gpu(run) if self.device.type == "cuda" else self.measure_host(run)

    def measure_host(self, run):
        """Returns the median time of one run on the host, in microseconds."""
        times = []
        for _ in range(self.repeats):
            begin = time.perf_counter()
            run()
            times.append((time.perf_counter() - begin) * 1e6)
        return statistics.median(times)

    def measure_gpu(self, run):
        """Returns the median time of one run on the GPU, in microseconds."""
        if self.event_ms == 0:
            self.event_ms = self.time_between_events(lambda: None, 100)
        return max(1e-4, self.time_between_events(run, self.repeats) - self.event_ms) * 1e3

    def time_between_events(self, run, repeats):
        """Returns the median time between two events around a run, in milliseconds."""
        torch = self.torch
        pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(repeats)]
        for index, (begin, end) in enumerate(pairs):
            if index % RUNS_PER_PAUSE == 0:
                torch.cuda.synchronize()
                torch.cuda._sleep(PAUSE_CYCLES)  # the host gets ahead
            if not self.is_warm:
                self.fill_cache()
            begin.record()
            run()
            end.record()
        torch.cuda.synchronize()
        return statistics.median(begin.elapsed_time(end) for begin, end in pairs)


def profile(kernels, bench, gpu, log=sys.stderr):
    """Returns the measured entries; says what is left out."""
    entries = []
    for kernel in kernels:
        shown = f"{kernel['operator']} {kernel.get('pass', 'forward')} {kernel['shape']}"
        try:
            run = bench.prepare(kernel)
            if run is None:
                print(f"left out: {shown}, no kernel for {kernel['data_type']}", file=log)
                continue
            time_us = bench.measure(run)
        except RuntimeError as error:  # out of memory, too
            print(f"left out: {shown}: {str(error).splitlines()[0][:100]}", file=log)
            continue
        finally:
            run = None  # its tensors make room
        entry = dict(kernel)
        entry["gpu"] = gpu or kernel["gpu"]
        entry["time_us"] = round(time_us, 6)
        entries.append(entry)
    return entries


def write_profile(path, description, entries):
    """Writes the table that --profile reads."""
    with open(path, "w", encoding="utf-8") as file:
        root = {"format": FORMAT, "version": VERSION, "description": description, "times": entries}
        json.dump(root, file, indent=1)
        file.write("\n")


def parse(arguments):
    """Returns what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kernels", required=True, help="file of proteus-compile --kernels")
    parser.add_argument("--output", required=True, help="file to write")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, ... or cpu")
    parser.add_argument("--gpu", default="", help="name of a data sheet (default: the file's)")
    parser.add_argument("--repeats", type=int, default=20, help="runs of each kernel")
    parser.add_argument(
        "--warm", action="store_true", help="leave operands in the cache from run to run"
    )
    parser.add_argument(
        "--flash", action="store_true", help="fused attention is PyTorch's own, not cuDNN's"
    )
    parser.add_argument(
        "--channelsLast", action="store_true", help="images in fp32 have their channels last, too"
    )
    parser.add_argument(
        "--search", action="store_true", help="let cuDNN try its kernels (cudnn.benchmark)"
    )
    return parser.parse_args(arguments)


def main(arguments):
    """Runs the script; returns its exit code."""
    options = parse(arguments)
    try:
        if options.repeats < 1:
            raise Mistake("--repeats: must be at least 1")
        kernels = read_kernels(options.kernels)
        try:
            import torch  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            raise Mistake("PyTorch is missing: install python3-torch or torch") from error
        if options.device.startswith("cuda") and not torch.cuda.is_available():
            raise Mistake("--device=cuda: PyTorch finds no GPU; --device=cpu tries the script")
        torch.backends.cudnn.benchmark = options.search
        if options.flash:
            torch.backends.cuda.enable_cudnn_sdp(False)
        bench = Bench(torch, options.device, options.repeats, options.warm)
        bench.channels_last = options.channelsLast
        entries = profile(kernels, bench, options.gpu)
    except Mistake as mistake:
        print(f"profile.py: error: {mistake}", file=sys.stderr)
        return 1
    name = torch.cuda.get_device_name() if options.device.startswith("cuda") else "the host"
    description = (
        f"measured by profile.py on {name}, PyTorch {torch.__version__}, "
        f"median of {options.repeats} runs"
    )
    write_profile(options.output, description, entries)
    print(f"{len(entries)} of {len(kernels)} kernels measured")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
