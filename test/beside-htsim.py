#!/usr/bin/env python3
# Copyright (c) 2026 The proteus authors
#
# SPDX-License-Identifier: GPL-2.0-only
"""Plays the same messages with proteus-flows and with htsim, and prints how far they are apart and what each costs.

    git clone https://github.com/Broadcom/csg-htsim && make -C csg-htsim/sim && make -C csg-htsim/sim/datacenter
    ./ns3 build proteus-flows
    test/beside-htsim.py --htsim=csg-htsim/sim/datacenter/htsim_roce \\
        --program=TREE/build/contrib/proteus/examples/ns3.37-proteus-flows-optimized

First incasts, two senders that share a receiver and a permutation, on leaves behind one spine, so that nothing is
chosen: differences message by message, without pauses and with inputs that pause above 15 * 4096 bytes. It ends with
exit code 1 if a message without pauses ends --most or more apart. Then permutations on fat trees: CPU time of both
for a packet-hop, and their ratio; paths are drawn there, so that times differ. doc/transport.rst and
doc/packet-engine.rst have what it printed.
"""

import argparse
import csv
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile

PACKET = 4096
MESSAGE = 489 * PACKET
CALM = ["-pfc_thresholds", "80000", "100000", "-q", "200000"]
PAUSED = ["-pfc_thresholds", "12", "15", "-q", "1000"]
ROOM = ["--ns3::proteus::Fabric::SwitchBuffer=2000000000"]
# htsim counts what is being sent, and the fabric does not: 14 packets for 15.
TIGHT = [
    "--ns3::proteus::Fabric::BufferReserve=57280",
    "--ns3::proteus::Fabric::ThresholdShift=30",
    "--ns3::proteus::Fabric::ResumeOffset=13600",
]
TIER = "Tier {}\nDownlink_speed_Gbps 100\nRadix_Down {}\n{}Downlink_Latency_ns 1000\nOversubscribed {}\n"


def write_tree(path, hosts, pod, tiers):
    """Writes a topology of htsim; tiers are (radix down, radix up), the last one without the latter."""
    text = f"Nodes {hosts}\nTiers {len(tiers)}\nPodsize {pod}\n"
    for level, (down, up) in enumerate(tiers):
        above = f"Radix_Up {up}\n" if up else ""
        text += TIER.format(level, down, above, down // up if up else 1)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def write_messages(path, hosts, messages):
    """Writes a connection matrix of htsim; messages are (source, destination, bytes)."""
    with open(path, "w", encoding="ascii") as file:
        file.write(f"Nodes {hosts}\nConnections {len(messages)}\n")
        for number, (source, destination, size) in enumerate(messages, 1):
            file.write(f"{source}->{destination} id {number} start 0 size {size}\n")
    return path


def permute(hosts, size):
    """Every host sends to another one."""
    places = list(range(hosts))
    while any(here == there for here, there in enumerate(places)):
        random.shuffle(places)
    return [(here, there, size) for here, there in enumerate(places)]


def run(command, folder):
    """Runs a program, which may write files to the folder; returns its text and CPU time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout, after.ru_utime - before.ru_utime


class Both:
    """The two programs in one folder."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = folder

    def play_there(self, tree, matrix, hosts, settings):
        """Returns when messages end by (source, destination), microseconds, and the CPU time."""
        log = os.path.join(self.folder, "log")
        out, cpu = run(
            [self.options.htsim, "-topo", tree, "-tm", matrix, "-nodes", str(hosts), "-mtu", str(PACKET), "-strat"]
            + ["ecmp_host", "-paths", "64", "-end", "1000000", "-o", log]
            + settings,
            self.folder,
        )
        ends = re.findall(r"Flow Roce_(\d+)_(\d+) \d+ finished at ([\d.]+)", out)
        return {(int(source), int(to)): float(end) for source, to, end in ends}, cpu

    def play_here(self, tree, matrix, settings):
        """Returns the same, the CPU time, and how many packet-hops there were."""
        table = os.path.join(self.folder, "ends.csv")
        out, cpu = run(
            [self.options.program, f"--cluster={tree}", f"--flows={matrix}", f"--payload={PACKET}", "--overhead=64"]
            + ["--ackBytes=64", "--congestionControl=none", f"--csv={table}", "--quiet"]
            + ["--ns3::proteus::Transport::AckEveryPackets=1", "--ns3::proteus::Transport::AckTrafficClass=1"]
            + settings,
            self.folder,
        )
        with open(table, encoding="ascii") as file:
            rows = list(csv.DictReader(file))
        ends = {(int(row["src"]), int(row["dst"])): float(row["ack_done_ns"]) / 1e3 for row in rows}
        return ends, cpu, int(re.search(r"(\d+) packet-hops", out).group(1))

    def compare(self, name, messages, tree, hosts):
        """Prints differences of ends; returns the largest without pauses."""
        matrix = write_messages(os.path.join(self.folder, "m.cm"), hosts, messages)
        calm = 0
        for label, there, here in (("nothing is paused", CALM, ROOM), ("inputs pause", PAUSED, TIGHT)):
            theirs, _ = self.play_there(tree, matrix, hosts, there)
            ours, _, _ = self.play_here(tree, matrix, here)
            if sorted(theirs) != sorted(ours):
                sys.exit(f"{name}: {len(theirs)} messages end in htsim, {len(ours)} in proteus-flows")
            apart = [abs(ours[pair] / theirs[pair] - 1) for pair in theirs]
            calm = calm or max(apart)
            print(f"{name:32} {label:18} mean {statistics.mean(apart):7.2%}   most {max(apart):7.2%}", flush=True)
        return calm

    def race(self, name, hosts, tree, size):
        """Prints the CPU time of both for a packet-hop."""
        costs = []
        for messages in (permute(hosts, PACKET), permute(hosts, size)):  # the first is set-up
            matrix = write_messages(os.path.join(self.folder, "m.cm"), hosts, messages)
            pairs = []
            for _ in range(self.options.repetitions):
                _, there = self.play_there(tree, matrix, hosts, CALM)
                _, here, hops = self.play_here(tree, matrix, ROOM)
                pairs.append((there, here))
            costs.append([statistics.median(column) for column in zip(*pairs)])
        there, here = [(whole - set_up) / hops * 1e9 for set_up, whole in zip(*costs)]
        print(f"{name:32} {hops:10,} packet-hops  htsim {there:6.0f} ns  proteus {here:5.0f} ns  {there / here:5.1f} times")


def main():
    """Reads the command line and runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--htsim", type=os.path.abspath, required=True, help="htsim_roce, as csg-htsim builds it")
    parser.add_argument("--program", type=os.path.abspath, required=True, help="proteus-flows, built")
    parser.add_argument("--most", type=float, default=0.005, help="largest share by which a message may be apart")
    parser.add_argument("--repetitions", type=int, default=3, help="runs of which the median is taken")
    options = parser.parse_args()
    random.seed(7)
    with tempfile.TemporaryDirectory() as folder:
        both = Both(options, folder)
        tree = write_tree(os.path.join(folder, "spine.topo"), 32, 32, [(8, 1), (4, 0)])
        largest = 0
        for senders in (7, 8, 31):
            messages = [(host, 31, MESSAGE) for host in range(senders)]
            largest = max(largest, both.compare(f"incast of {senders}", messages, tree, 32))
        shared = [(0, 1, 2 * MESSAGE), (0, 2, 2 * MESSAGE), (3, 1, 2 * MESSAGE)]
        largest = max(largest, both.compare("two senders share a receiver", shared, tree, 32))
        largest = max(largest, both.compare("permutation of 32", permute(32, MESSAGE), tree, 32))
        small = write_tree(os.path.join(folder, "128.topo"), 128, 16, [(4, 4), (4, 4), (8, 0)])
        both.race("fat tree, 128 hosts, 8 MB", 128, small, 2000 * PACKET)
        large = write_tree(os.path.join(folder, "1024.topo"), 1024, 64, [(8, 8), (8, 8), (16, 0)])
        both.race("fat tree, 1,024 hosts, 2 MB", 1024, large, 500 * PACKET)
    if largest >= options.most:
        sys.exit(f"a message ends {largest:.2%} apart where nothing is paused")


if __name__ == "__main__":
    main()
