#!/usr/bin/env python3
# Copyright (c) 2026 The proteus authors
#
# SPDX-License-Identifier: GPL-2.0-only
"""Runs random jobs by flows and by packets, to find what ends with an error, hangs, or differs.

    ./ns3 build proteus-run
    test/random-jobs.py --program=TREE/build/contrib/proteus/examples/ns3.37-proteus-run-optimized

A job is a model, a strategy, a cluster, a fabric and up to two more options; number N is the same job
every time. With --servers=roce presets have one to eight NICs over RoCE, with --servers=many there are five to 16 of them.
With --servers=random the clusters are no presets but one to three servers nobody has: GPUs of any model, with and without peer-to-peer, NVSwitches, meshes that
lack links, C2C, up to eight NICs. With --work=graphs a job is no model but up to six collectives of any kind, 4 KiB to
32 MiB, in groups of any GPUs, several of them at a time, whose ranks come late, over NICs that presets do not have;
with --work=collectives it is one of them alone, up to 128 MiB. What a program refuses is counted; a job that one
executor runs and the other does not, that takes too long, or whose times are more than --tolerance apart is printed.
--csv=FILE keeps every job that both run, for workloads/evaluation/flow-errors.py.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import random
import re
import subprocess
import tempfile
import time

TRANSFORMERS = ["gpt3-125m", "gpt3-350m", "bert-base", "bert-large", "t5-small", "t5-base"]
TRANSFORMERS += ["gpt2-small", "gpt2-medium", "transformer", "mixtral-8x7b"]
CONVOLUTIONS = ["resnet50", "vgg16", "vgg19", "alexnet", "inception-v3"]
CLUSTERS = [("dgx-a100", 8), ("dgx-h100", 8), ("dgx1-v100", 8), ("pcie-v100x4", 4)]
CLUSTERS += [("hgx-b200", 8), ("dgx2", 16), ("titanxp-pcie", 8), ("pcie-v100x8", 8)]
# GPUs of random servers: GB/s of an NVLink and its generation.
GPUS = {"P100-SXM2-16GB": (20, 2), "V100-SXM2-32GB": (25, 2), "A30": (25, 3), "A100-SXM4-80GB": (25, 3), "H20": (25, 4)}
GPUS |= {"H100-SXM5-80GB": (25, 4), "GH200-96GB": (25, 4), "B200": (50, 5), "GB200": (50, 5), "B300": (50, 5), "GB300": (50, 5), "A40": (14.0625, 3)}
GPUS |= {name: None for name in ("TITAN-Xp", "T4", "L4", "L40S", "RTX-4090", "RTX-5090", "H100-PCIE-80GB")}
PLANS = ["zero=1", "zero=2", "zero=3", "recompute=full", "recompute=selective", "schedule=gpipe"]
PLANS += ["buckets=ddp", "buckets=whole", "buckets=unit", "optimizer=sgd", "optimizer=lamb", "dataType=fp16"]
PLANS += ["gradientsInPlace=false", "fusedOptimizer=true"]
FABRICS = [
    [],
    [],
    ["--fabric=leaf-spine", "--serversPerLeaf=1"],
    ["--fabric=leaf-spine", "--serversPerLeaf=1", "--oversubscription=4"],
    ["--fabric=rail-optimised"],
    ["--fabric=fat-tree"],
    ["--fabric=dragonfly+", "--serversPerLeaf=1"],
    ["--fabric=torus-2d"],
]
MANY = [5, 6, 8, 8, 12, 16]  # servers
OTHERS = [
    "--iterations=2",
    "--communicationSchedule=priority",
    "--communicationSchedule=buckets",
    "--joinGrid=1us",
    "--joinWindow=5us",
    "--gpuSharing=off",
    "--ncclVersion=2.18",
    "--algorithm=ring",
    "--protocol=Simple",
    "--bundles=cables",
    "--framework=fsdp2",
    "--framework=ddp",
    "--stream=3",
    "--repetition=verify",
    "--ns3::proteus::PacketNetwork::LaunchMode=stream",
]

# With --work=graphs.
COLLECTIVES = ["all-reduce"] * 3 + ["all-gather", "reduce-scatter", "broadcast", "reduce", "gather", "scatter"]
COLLECTIVES += ["all-to-all", "all-to-all", "send-recv"]
RATES = ["25G-roce", "100G-roce", "200G-roce", "400G-roce", "100G-infiniband", "400G-infiniband"]
NICS = {"dgx1-v100": 4, "pcie-v100x4": 1, "titanxp-pcie": 1, "pcie-v100x8": 1}  # at most; others have up to 8
WIRES = [[], [], [], ["--algorithm=ring"], ["--algorithm=tree"], ["--algorithm=nvls"], ["--algorithm=nvls-tree"]]
WIRES += [["--algorithm=sharp"], ["--protocol=LL"], ["--protocol=LL128"], ["--protocol=Simple"]]
WIRES += [["--channels=1"], ["--channels=2"], ["--ns3::proteus::Transport::CongestionControl=hpcc"]]
WIRES += [["--ns3::proteus::Transport::CongestionControl=none"], ["--joinGrid=1us"]]


def pick_group(dice, gpus, devices):
    """Returns GPUs of a group: a server, one of each, all, or any."""
    kind = dice.choice(["server", "rail", "rail", "all", "any", "any"])
    if kind == "server":
        first = gpus * dice.randrange(devices // gpus)
        group = list(range(first, first + gpus))
    elif kind == "rail" and devices > gpus:
        group = list(range(dice.randrange(gpus), devices, gpus))
    elif kind == "any":
        group = sorted(dice.sample(range(devices), dice.randint(2, devices)))
    else:
        group = list(range(devices))
    return group


def make_graph(number, folder, gpus, devices, alone):
    """Writes a graph of collectives of several groups, or of one alone, and returns its file."""
    dice = random.Random(f"graph {number}")
    tasks, groups, last = [], [], {}
    for device in range(devices):
        late = 0 if alone else dice.choice([0, 0, 0, dice.randint(1, 300)]) * 1000000
        task = {"name": "late", "kind": "compute", "phase": "iteration", "device": device, "stream": "compute"}
        tasks.append({**task, "id": device, "duration_ps": late + 1000000})
    for _ in range(1 if alone else dice.randint(1, 6)):
        collective = dice.choice(COLLECTIVES)
        group = pick_group(dice, gpus, devices)
        group = dice.sample(group, 2) if collective == "send-recv" else group
        number_of_group = groups.index(group) if group in groups else len(groups)
        groups += [group] if number_of_group == len(groups) else []
        task = {"name": collective, "kind": "communication", "phase": "iteration", "group": number_of_group}
        task |= {"stream": f"stream{dice.randrange(3)}", "collective": collective, "id": len(tasks)}
        task["bytes"] = max(len(group), int(2 ** dice.uniform(12, 27 if alone else 25)) // len(group) * len(group))
        if collective in ("broadcast", "reduce", "gather", "scatter"):
            task["root"] = dice.randrange(len(group))
        before = set(group)
        if last and dice.random() < 0.3:
            before |= {last[device] for device in group if device in last}
        task["dependencies"] = sorted(before)
        last |= {device: task["id"] for device in group}
        tasks.append(task)
    path = os.path.join(folder, f"graph-{number}.json")
    streams = ["compute", "stream0", "stream1", "stream2"]
    graph = {"format": "proteus-graph", "version": 1, "devices": devices, "streams": streams}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**graph, "phases": [{"name": "iteration"}], "groups": groups, "tasks": tasks}, file)
    return path


def draw_nics(dice, cluster, rates):
    """Returns how many NICs the servers of a preset have, and which."""
    nics = dice.choice([count for count in (1, 2, 4, 8) if count <= NICS.get(cluster, 8)])
    return f"{nics}x{dice.choice(rates)}"


def make_graph_job(number, folder, alone, many):
    """Returns the options of a job of collectives, or of one, on up to four servers or on many."""
    dice = random.Random(f"job {number}")
    cluster, gpus = dice.choice(CLUSTERS + ([] if many else [("gb200-nvl72", 72)]))
    nodes = 1 if gpus == 72 else dice.choice(MANY if many else [1, 2, 2, 3, 4])
    nics = draw_nics(dice, cluster, RATES)
    changes = "" if gpus == 72 or dice.random() < 0.4 else f":nic={nics}"
    devices = gpus * nodes if many else min(gpus * nodes, 24 if gpus == 72 else 32)
    nodes = devices // min(gpus, devices)
    graph = make_graph(number, folder, min(gpus, devices), devices, alone)
    job = [f"--graph={graph}", f"--cluster={cluster}{changes}", f"--nodes={nodes}"]
    job += draw_fabric(dice, nodes, many)
    return job + dice.choice(WIRES)


def draw_fabric(dice, nodes, many):
    """Returns the options of a fabric between servers."""
    fabric = dice.choice(FABRICS) if nodes > 1 else []
    if many and "--serversPerLeaf=1" in fabric:
        fabric = [f"--serversPerLeaf={dice.choice([1, 2, 4])}" if option == "--serversPerLeaf=1" else option for option in fabric]
    return fabric


def make_job(number, folder=None, servers="presets"):
    """Returns the options of a job, on random servers, of which it puts a file into a folder, or presets,
    as they are, many of them, or with NICs over RoCE."""
    many = servers == "many"
    dice = random.Random(number)
    cluster, gpus = dice.choice(CLUSTERS)
    nodes = dice.choice(MANY if many else [1, 2, 2, 2, 4])
    if folder:
        nodes = 1
        cluster, gpus = make_cluster(number, folder)
    if servers == "roce":
        cluster += ":nic=" + draw_nics(random.Random(f"nics {number}"), cluster, RATES[:4])
    is_transformer = dice.random() < 0.75
    model = dice.choice(TRANSFORMERS if is_transformer else CONVOLUTIONS)
    tensor = dice.choice([1, 1, 2, 4]) if is_transformer else 1
    tensor = tensor if gpus * nodes % tensor == 0 else 1
    stages = dice.choice([1, 1, 2, 4]) if is_transformer else 1
    stages = stages if gpus * nodes // tensor % stages == 0 else 1
    replicas = max(1, gpus * nodes // (tensor * stages))
    batch = replicas * dice.choice([1, 2, 4, 8])
    plans = list(PLANS)
    plans += ["sequenceParallel=true"] if tensor > 1 else []
    plans += ["mapping=tp-pp-dp", "scatterGather=true"] if stages > 1 else []
    plans += ["ep=2"] * 3 if model.startswith("mixtral") and replicas % 2 == 0 else []
    chosen = {plan.split("=")[0]: plan for plan in dice.sample(plans, dice.choice([0, 1, 1, 2, 3]))}
    sizes = [f"tp={tensor}", f"pp={stages}", f"dp={replicas}", f"globalBatch={batch}"]
    job = [f"--model={model}", "--strategy=" + ",".join(sizes + list(chosen.values()))]
    job += [f"--cluster={cluster}", "--ignoreMemory"] + ([] if folder else [f"--nodes={nodes}"])
    if model.startswith(("gpt", "mixtral")):
        job.append(f"--variables=layers={max(dice.choice([2, 4]), stages)}")
    job += draw_fabric(dice, nodes, many)
    return job + dice.sample(OTHERS, dice.choice([0, 1, 2]))


def make_server(dice, kind, server, vertices, links):
    """Adds a server of a kind to a cluster."""

    def add(name, what, **more):
        vertices.append({"name": f"n{server}.{name}", "kind": what, "server": server, **more})

    def join(a, b, technology, rate, **more):
        ends = {"a": f"n{server}.{a}", "b": f"n{server}.{b}"}
        links.append({**ends, "technology": technology, "rate_gbytes_per_s": rate, **more})

    def find_cpu(i, count):
        return f"cpu{i * kind['cpus'] // count}"

    def find_parent(i, count):
        return find_cpu(i, count).replace("cpu", "pcie") if kind["switches"] else find_cpu(i, count)

    for i in range(kind["cpus"]):
        add(f"cpu{i}", "cpu", vendor=kind["vendor"], peer_to_peer=kind["peer_to_peer"])
        if kind["switches"]:
            add(f"pcie{i}", "pcie-switch")
            join(f"pcie{i}", f"cpu{i}", "pcie", 31.5, generation=4)
    for i in range(kind["gpus"]):
        add(f"gpu{i}", "gpu", model=kind["gpu"])
        if kind["c2c"]:
            join(f"gpu{i}", find_cpu(i, kind["gpus"]), "cpu-interconnect", 450)
        else:
            join(f"gpu{i}", find_parent(i, kind["gpus"]), "pcie", 31.5, generation=4)
    if kind["cpus"] == 2:
        join("cpu0", "cpu1", "cpu-interconnect", dice.choice([10, 20, 40]))
    rate, generation = GPUS[kind["gpu"]] or (0, 0)
    if kind["nvlink"] == "switch":
        reduces = generation > 3
        add("nvswitch0", "nvswitch", multicast=reduces, reduction=reduces)
        lanes = dice.choice([4, 12])
        for i in range(kind["gpus"]):
            join(f"gpu{i}", "nvswitch0", "nvlink", lanes * rate, generation=generation)
    for i in range(kind["gpus"] if kind["nvlink"] == "mesh" else 0):
        for j in range(i):
            if dice.random() < 0.8:
                join(f"gpu{j}", f"gpu{i}", "nvlink", dice.choice([1, 2, 4]) * rate, generation=generation)
    for i in range(kind["nics"]):
        add(f"nic{i}", "nic", peer_to_peer=kind["rdma"])
        join(f"nic{i}", find_parent(i, kind["nics"]), "pcie", dice.choice([15.75, 31.5]), generation=4)


def make_cluster(number, folder):
    """Writes a random cluster, and returns its file and the number of its GPUs."""
    dice = random.Random(f"cluster {number}")
    servers = dice.choice([1, 1, 2, 3])
    gpu = dice.choice(list(GPUS))
    kind = {
        "gpus": dice.randint(1 if servers > 1 else 2, 6),
        "gpu": gpu,
        "cpus": dice.choice([1, 2]),
        "vendor": dice.choice(["intel", "amd", "arm"]),
        "peer_to_peer": dice.random() < 0.6,
        "c2c": gpu == "GH200-96GB" and dice.random() < 0.5,
        "nvlink": dice.choice(["none", "switch", "mesh"]) if GPUS[gpu] else "none",
        "nics": dice.choice([0, 0, 1, 2, 4]) if servers == 1 else dice.choice([1, 2, 4, 8]),
        "switches": dice.random() < 0.4,
        "rdma": dice.random() < 0.7,
    }
    vertices, links = [], []
    for server in range(servers):
        make_server(dice, kind, server, vertices, links)
    if servers > 1:
        vertices.append({"name": "switch", "kind": "switch"})
        technology = dice.choice(["infiniband", "roce"])
        for server in range(servers):
            for i in range(kind["nics"]):
                link = {"a": f"n{server}.nic{i}", "b": "switch", "technology": technology}
                links.append({**link, "rate_gbytes_per_s": 12.5})
    path = os.path.join(folder, f"{number}.json")
    with open(path, "w", encoding="utf-8") as file:
        cluster = {"format": "proteus-cluster", "version": 1, "name": "random"}
        json.dump({**cluster, "vertices": vertices, "links": links}, file)
    return path, servers * kind["gpus"]


def run(program, job, executor, limit_s):
    """Returns the time of an iteration in seconds, or what happened instead, and the notes of the run."""
    with tempfile.TemporaryDirectory() as folder:
        summary = os.path.join(folder, "summary.json")
        command = [program, *job, f"--executor={executor}", "--quiet", f"--summary={summary}"]
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=limit_s)
        except subprocess.TimeoutExpired:
            return f"takes more than {limit_s} s", []
        if result.returncode != 0:
            return (result.stderr.strip().split("\n") or [""])[-1], []
        with open(summary, encoding="utf-8") as file:
            result = json.load(file)
        return result["iteration_s"], result.get("notes", [])


def find_setting(notes):
    """Returns what a run by flows says that it ran on; empty: nothing that flows are compared on."""
    found = re.search(r"random models on (.+?) (?:half take|were compared)", " ".join(notes))
    return found.group(1) if found else ""


def main():
    """Runs jobs until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True, help="proteus-run, as it was built")
    parser.add_argument("--seconds", type=float, default=300, help="no job begins after so long")
    parser.add_argument("--limit", type=float, default=100, help="seconds of one run, at most")
    parser.add_argument("--first", type=int, default=0, help="number of the first job")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at a time")
    parser.add_argument("--tolerance", type=float, default=0.1, help="of flows against packets")
    parser.add_argument("--servers", choices=["presets", "roce", "many", "random"], default="presets", help="of the clusters: presets, with other NICs, many of them, or any")
    parser.add_argument("--work", choices=["models", "graphs", "collectives"], default="models", help="of the jobs")
    parser.add_argument("--csv", help="table to write, or to add to: number, work, servers, flow_s, packet_s, setting, job")
    parser.add_argument("--keep", help="folder for files of random clusters and graphs (a temporary one)")
    options = parser.parse_args()
    temporary = tempfile.TemporaryDirectory()
    has_files = options.work != "models" or options.servers == "random"
    folder = options.keep or temporary.name if has_files else None
    if folder:
        os.makedirs(folder, exist_ok=True)
    end = time.time() + options.seconds
    differences, refused, odd = [], 0, 0

    def try_job(number):
        if time.time() > end:
            return None
        if options.work == "models":
            job = make_job(number, folder, options.servers)
        else:
            job = make_graph_job(number, folder, options.work == "collectives", options.servers == "many")
        return number, job, [run(options.program, job, e, options.limit) for e in ("flow", "packet")]

    numbers = range(options.first, options.first + 100000)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in pool.map(try_job, numbers):
            if done is None:
                break
            number, job, ((flow, notes), (packet, _)) = done
            if isinstance(flow, float) and isinstance(packet, float):
                differences.append(abs(flow / packet - 1))
                if options.csv:
                    with open(options.csv, "a", encoding="utf-8", newline="") as table:
                        cells = [number, options.work, options.servers, flow, packet, find_setting(notes), " ".join(job)]
                        csv.writer(table).writerow(cells)
                if differences[-1] <= options.tolerance:
                    continue
            elif all(isinstance(time, str) and "error: " in time for time in (flow, packet)):
                refused += 1
                continue
            odd += 1
            print(number, f"flow: {flow}, packet: {packet}", " ".join(job), flush=True)
        pool.shutdown(cancel_futures=True)
    differences.sort()
    if differences:
        shares = [differences[int(part * (len(differences) - 1))] for part in (0.5, 0.9, 1)]
        print(f"{len(differences)} jobs by both, {refused} refused, {odd} odd; flows against packets: ", end="")
        print("median {:.2%}, 90 of 100 {:.2%}, most {:.2%}".format(*shares))


if __name__ == "__main__":
    main()
