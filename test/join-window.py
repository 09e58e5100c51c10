#!/usr/bin/env python3
# Copyright (c) 2026 The proteus authors
#
# SPDX-License-Identifier: GPL-2.0-only
"""How much the join window changes iterations: runs jobs without and with it, and prints a table.

    ./ns3 build proteus-run
    test/join-window.py --program=TREE/build/contrib/proteus/examples/ns3.37-proteus-run-optimized

The table of doc/packet-engine.rst is what it prints. It ends with exit code 1 if an iteration changes by
more than --most. Repetition is on, as the result does not depend on it. A job with "dice" has congestion control
that marks many packets: any change of a start is another throw, so that it is printed and not judged.

Jobs may be sensitive to any change of a start, by more than a window shifts it on the whole. --throws=N tells bias from
chance: it runs every job N times, with kernels that are longer by 0, 1, 2, ... hundredths of a percent, each without
and with the window, and prints mean and standard error of the change, and how far the N iterations without a
window are apart when their kernels' growth is taken out. Then the mean is judged.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

JOBS = """
GPT-3 6.7B, 4 layers, TP 8, DP 2                 | gpt3-6.7b layers=4 | tp=8,dp=2,globalBatch=8 | dgx-a100 2
GPT-3 6.7B, 4 layers, TP 4, PP 2, DP 2           | gpt3-6.7b layers=4 | tp=4,pp=2,dp=2,globalBatch=16 | dgx-a100 2
GPT-3 175B, 4 layers, TP 8, PP 4                 | gpt3-175b layers=4 | tp=8,pp=4,dp=1,globalBatch=4 | dgx-a100 4
GPT-3 1.3B, 4 layers, DP 16, ZeRO 1              | gpt3-1.3b layers=4 | tp=1,dp=16,globalBatch=16,zero=1 | dgx-a100 2
GPT-3 1.3B, 4 layers, DP 16, ZeRO 3              | gpt3-1.3b layers=4 | tp=1,dp=16,globalBatch=16,zero=3 | dgx-a100 2
GPT-3 125M, FSDP 2                               | gpt3-125m layers=4 | tp=1,dp=16,globalBatch=16,zero=3 | dgx-a100 2 --framework=fsdp2
GPT-3 125M, DDP                                  | gpt3-125m layers=4 | tp=1,dp=16,globalBatch=32 | dgx-a100 2 --framework=ddp
GPT-3 6.7B, 4 layers, TP 8, DP 2, NVLS           | gpt3-6.7b layers=4 | tp=8,dp=2,globalBatch=8 | dgx-h100 2
the same, TP 4, PP 2, DP 2, sequence parallel    | gpt3-6.7b layers=4 | tp=4,pp=2,dp=2,globalBatch=16,sequenceParallel=true | dgx-h100 2
the same, TP 2, DP 8, ZeRO 2, no NVLS            | gpt3-6.7b layers=2 | tp=2,dp=8,globalBatch=16,zero=2 | dgx-h100 2 --algorithm=ring
Mixtral 8x7B, 1 layer, EP 8, DP 16               | mixtral-8x7b layers=1 | tp=1,dp=16,ep=8,globalBatch=16 | dgx-a100 2
Mixtral 8x7B, 1 layer, EP 8, DP 16, leaf-spine   | mixtral-8x7b layers=1 | tp=1,dp=16,ep=8,globalBatch=16 | dgx-a100 2 --fabric=leaf-spine --serversPerLeaf=1
Mixtral 8x7B, 2 layers, TP 2, EP 4, DP 8, RoCE   | mixtral-8x7b layers=2 | tp=2,dp=8,ep=4,globalBatch=16 | dgx-h100:nic=8x400G-roce 2
Mixtral 8x7B, 4 layers, EP 8, DP 8, one server   | mixtral-8x7b layers=4 | tp=1,dp=8,ep=8,globalBatch=32 | dgx-a100 1
Mixtral 8x7B, 2 layers, PP 2, EP 4, NVLS         | mixtral-8x7b layers=2 | tp=1,pp=2,dp=4,ep=4,globalBatch=32 | dgx-h100 1
Mixtral 8x7B, 2 layers, TP 2, EP 8, DP 8         | mixtral-8x7b layers=2 | tp=2,dp=8,ep=8,globalBatch=32 | dgx-a100 2
GPT-3 350M, TP 2, DP 8, RoCE                     | gpt3-350m layers=4 | tp=2,dp=8,globalBatch=16 | dgx-a100:nic=8x200G-roce 2
GPT-3 350M, PP 4, DP 4, RoCE, leaf-spine 4:1     | gpt3-350m layers=4 | tp=1,pp=4,dp=4,globalBatch=32 | dgx-a100:nic=8x200G-roce 2 --fabric=leaf-spine --serversPerLeaf=1 --oversubscription=4 | dice
GPT-3 350M, TP 2, PP 2, DP 8, rail-optimised     | gpt3-350m layers=4 | tp=2,pp=2,dp=8,globalBatch=32 | dgx-a100 4 --fabric=rail-optimised
GPT-3 350M, TP 4, DP 8, fat-tree, recompute      | gpt3-350m layers=4 | tp=4,dp=8,globalBatch=16,recompute=full | dgx-a100 4 --fabric=fat-tree
BERT large, DP 8                                 | bert-large | tp=1,dp=8,globalBatch=32 | dgx1-v100 1
BERT base, TP 4, DP 4, PCIe                      | bert-base | tp=4,dp=4,globalBatch=32 | pcie-v100x8 2
T5 base, TP 2, DP 8, DGX-2                       | t5-base | tp=2,dp=8,globalBatch=32 | dgx2 1
GPT-2 medium, TP 2, PP 2, DP 2, PCIe             | gpt2-medium | tp=2,pp=2,dp=2,globalBatch=16 | pcie-v100x4 2
ResNet-50, DP 16                                 | resnet50 | dp=16,globalBatch=512 | dgx1-v100 2
VGG-16, DP 8, TITAN Xp                           | vgg16 | dp=8,globalBatch=256 | titanxp-pcie 1
GPT-3 175B, 4 layers, TP 8, PP 4, NVLS           | gpt3-175b layers=4 | tp=8,pp=4,dp=1,globalBatch=4 | dgx-h100 4
GPT-3 6.7B, 4 layers, TP 8, PP 2, HGX B200       | gpt3-6.7b layers=4 | tp=8,pp=2,globalBatch=8 | hgx-b200 2
Transformer, DP 16, HGX B200                     | transformer | tp=1,dp=16,globalBatch=32 | hgx-b200 2
"""


def run(program, options, window):
    """Returns the summary of a job."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "summary.json")
        command = [program, *options, *window, "--executor=packet", "--ignoreMemory", "--quiet"]
        subprocess.run([*command, f"--summary={path}"], check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def throw(program, options, given, throws):
    """Returns the changes of a job's throws, and its iterations without a window at equal kernels."""
    base = run(program, options, ["--joinWindow=0us"])["worst"]["compute"]["s"]
    changes, iterations = [], []
    for i in range(throws):
        growth = 1 + 1e-4 * i
        stretched = [*options, f"--computeTime={round(base * growth * 1e9)}ns"]
        without = run(program, stretched, ["--joinWindow=0us"])
        within = run(program, stretched, given)
        changes.append(100 * (within["iteration_s"] / without["iteration_s"] - 1))
        iterations.append(without["iteration_s"] / growth)
    return changes, iterations


def main():
    """Prints the table, and returns whether no job changes by more than allowed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True, help="proteus-run, as it was built")
    parser.add_argument("--window", default="", help="that is compared with none (empty: the default)")
    parser.add_argument("--share", type=float, help="PacketNetwork::JoinWindowShare that is compared with none")
    parser.add_argument("--only", default="", help="jobs with this in their line")
    parser.add_argument("--throws", type=int, default=1, help="of the dice, at least 2 to tell bias from chance")
    parser.add_argument("--most", type=float, default=0.02, help="change that is allowed, percent")
    arguments = parser.parse_args()
    given = [f"--joinWindow={arguments.window}"] if arguments.window else []
    if arguments.share is not None:
        given.append(f"--ns3::proteus::PacketNetwork::JoinWindowShare={arguments.share}")
    worst = 0
    for line in JOBS.strip().splitlines():
        if arguments.only not in line:
            continue
        name, model, strategy, cluster, *dice = (part.strip() for part in line.split("|"))
        preset, nodes, *more = cluster.split()
        model, *layers = model.split()
        options = [f"--model={model}", f"--strategy={strategy}", f"--cluster={preset}", f"--nodes={nodes}"]
        options += [f"--variables={size}" for size in layers] + more
        if arguments.throws > 1:
            changes, iterations = throw(arguments.program, options, given, arguments.throws)
            change = statistics.mean(changes)
            error = statistics.stdev(changes) / len(changes) ** 0.5
            spread = 100 * statistics.stdev(iterations) / statistics.mean(iterations)
            worst = worst if dice else max(worst, abs(change))
            print(f"{name:<49} {1e3 * iterations[0]:9.3f} {change:+8.4f} +- {error:.4f}  spread {spread:.4f}", flush=True)
            continue
        without, within = (run(arguments.program, options, window) for window in (["--joinWindow=0us"], given))
        change = 100 * (within["iteration_s"] / without["iteration_s"] - 1)
        worst = worst if dice else max(worst, abs(change))
        print(f"{name:<49} {1e3 * without['iteration_s']:9.3f} {change:+8.4f}", flush=True)
    print(f"most: {worst:.4f} %")
    return worst <= arguments.most


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
