#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Shows that a change of the house changes no result.

    test/same-results.py record FOLDER [WORD]    run all, keep what they say
    test/same-results.py compare FOLDER [WORD]   run all again, and compare
    test/same-results.py list

Records made before a change are compared with runs after it: what is printed,
spans, link tables, summaries and all other tables, byte by byte, but for wall
times. WORD picks the runs with it in their name. PROTEUS_RUN is the command
that runs a program (default: this clone's ./ns3 run --no-build); -j N runs as
many at once. Exit code 1 if something differs.

    git switch --detach main && ./ns3 build && test/same-results.py record /tmp/before
    git switch - && ./ns3 build && test/same-results.py compare /tmp/before
"""

import argparse
import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

CLONE = pathlib.Path(__file__).resolve().parent.parent
SHARED = CLONE.parent / "shared"

# What a run writes about itself: OUT is its folder.
RESULTS = "--csv=spans.csv --summary=summary.json --tables=tables"
SMALL = "--model=125M --globalBatch=4"
GPT = "--model=gpt3-125m"


def gpt3(name, arguments, results=RESULTS):
    return (f"gpt3-{name}", f"proteus-gpt3 --quiet {SMALL} {arguments} {results}")


def run(name, arguments, results=RESULTS):
    return (f"run-{name}", f"proteus-run --quiet {arguments} {results}")


def collective(name, arguments):
    return (
        f"collective-{name}",
        f"proteus-collective --quiet {arguments} --csv=times.csv --tables=tables",
    )


def flows(name, arguments):
    return (
        f"flows-{name}",
        f"proteus-flows --quiet {arguments} --csv=flows.csv",
    )


W = "WORKLOADS"
ROCE = "--fabric=leaf-spine --serversPerLeaf=1 --oversubscription=4"
CONTROL = "--ns3::proteus::Transport::CongestionControl="
COLLECTIVE = "--ns3::proteus::PacketNetwork::"

RUNS = [
    # The compiler's plans, and the fabrics.
    gpt3("tensor", "--nodes=1 --tp=4"),
    gpt3("pipeline", "--nodes=1 --tp=1 --pp=4 --dp=1 --recompute=full"),
    gpt3("gpipe", "--nodes=1 --tp=2 --pp=2 --dp=2 --schedule=gpipe"),
    gpt3("leaf-spine", f"--tp=4 --globalBatch=8 {ROCE} --overlapGradientReduction"),
    gpt3("other-stream", f"--tp=4 --globalBatch=8 {ROCE} --stream=2"),
    gpt3("rail", "--tp=4 --fabric=rail-optimised --nodes=2"),
    gpt3("fat-tree", "--tp=4 --fabric=fat-tree --nodes=2"),
    gpt3("dragonfly", "--tp=4 --fabric=dragonfly+ --nodes=4 --globalBatch=8"),
    gpt3("torus", "--tp=4 --fabric=torus-2d --nodes=4 --globalBatch=8"),
    gpt3("h100", "--tp=4 --cluster=dgx-h100 --nodes=2 --launchInterval=5us"),
    gpt3("b200", "--tp=4 --cluster=hgx-b200 --nodes=1 --launchInterval=5us"),
    gpt3("v100", "--tp=4 --cluster=dgx1-v100 --dataType=fp16"),
    gpt3("titanxp", "--tp=4 --cluster=titanxp-pcie --nodes=1 --dataType=fp16"),
    gpt3("executors", "--tp=2 --pp=2 --executor=packet,flow,alpha-beta,classic,distsim,distsim-flow"),
    gpt3("files", "--nodes=1 --tp=2 --report=page.html --timeline=trace.json --json=all.json --saveGraph=graph.json"),
    gpt3("perfetto", "--nodes=1 --tp=2 --timeline=trace.pftrace"),
    gpt3("observed", "--nodes=2 --tp=4 --linkSeries=links.csv --congestionSeries=pairs.csv"
         " --seriesInterval=100us"),
    gpt3("flow-large", "--model=6.7B --tp=8 --pp=2 --nodes=4 --executor=flow --fabric=fat-tree"),
    # Strategies and models.
    run("zero-1", f"{GPT} --strategy=tp=2,dp=4,zero=1,globalBatch=8 --nodes=1 --executor=both"),
    run("zero-3", f"{GPT} --strategy=dp=8,zero=3,globalBatch=8 --nodes=1 --executor=both"),
    run("interleaved", f"--strategy={W}/strategies/interleaved-pp4-v2.json --model=gpt2-medium --nodes=1"),
    run("context", f"--model=llama2-7b --strategy={W}/strategies/context-4-tp8.json --nodes=4"
        " --executor=flow"),
    run("experts", f"--model=mixtral-8x7b --strategy={W}/strategies/experts-8.json --nodes=1"
        " --executor=flow --ignoreMemory"),
    run("vgg", f"--model=vgg16 --strategy={W}/strategies/ddp-8.json --cluster=dgx1-v100 --nodes=1"
        " --executor=both"),
    run("resnet", f"--model=resnet50 --strategy={W}/strategies/ddp-8.json --cluster=titanxp-pcie"
        " --nodes=1 --executor=packet,flow,classic"),
    run("classic", "--model=gpt2-small --strategy=tp=2,dp=4,globalBatch=8 --htae=classic --nodes=1"),
    # Graphs and traces.
    run("graph-1f1b", f"--graph={W}/graphs/pipeline-1f1b-4.json --nodes=1 --executor=both"),
    run("graph-dp", f"--graph={W}/graphs/data-parallel-8.json --nodes=1 --executor=both"),
    run("chakra", "--trace=SHARED/chakra/custom_ring_8 --nodes=1 --executor=both"),
    run("chakra-all-to-all", "--trace=SHARED/chakra/all_to_all_4 --nodes=1"),
    run("aicb", "--trace=SHARED/aicb/micro_all_reduce.txt --nodes=1 --executor=flow"),
    # Congestion control, RoCE.
    *[
        run(f"control-{name}",
            f"{GPT} --strategy=dp=8,globalBatch=8 --cluster=roce.json --executor=packet"
            f" {CONTROL}{name}")
        for name in ("dcqcn", "hpcc", "timely", "swift", "dctcp", "tcp")
    ],
    run("adaptive", f"{GPT} --strategy=dp=8,globalBatch=8 --cluster=roce.json"
        " --ns3::proteus::Fabric::Routing=Adaptive"),
    run("cut-through", f"{GPT} --strategy=dp=8,globalBatch=8 --cluster=roce.json"
        " --ns3::proteus::Fabric::RoceCutThrough=true"),
    # Collectives.
    *[
        collective(f"{name}", f"--cluster=dgx-a100 --nodes=2 --min=64K --max=4M --factor=8 --collective={name}")
        for name in ("all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce",
                     "all-to-all", "send-recv", "gather", "scatter")
    ],
    *[
        collective(f"algorithm-{name}",
                   f"--cluster=dgx-h100 --nodes=2 --min=1M --max=1M --collective=all-reduce --algorithm={name}")
        for name in ("ring", "tree", "nvls-tree", "halving-doubling", "hierarchical", "direct")
    ],
    collective("nvls", "--cluster=dgx-h100 --nodes=1 --min=1M --max=16M --factor=16 --algorithm=nvls"),
    collective("pat", "--cluster=dgx-h100 --nodes=2 --min=1M --max=1M --collective=all-gather --algorithm=pat"),
    collective("pxn", "--cluster=dgx-h100 --nodes=2 --min=1M --max=1M --collective=all-to-all --algorithm=pxn"),
    collective("server", "--cluster=dgx-a100 --nodes=1 --min=1M --max=1M --algorithm=parameter-server --parameterServers=2"),
    collective("protocols", "--cluster=dgx1-v100 --nodes=2 --min=1M --max=1M --protocol=LL128"),
    collective("groups", "--cluster=dgx-a100 --nodes=2 --concurrent=8 --min=1M --max=1M"),
    collective("one-process", "--cluster=dgx-a100 --min=8 --max=1M --factor=64 --launchMode=one-process"),
    collective("msccl", "--cluster=dgx1-v100 --gpus=4 --msccl=SHARED/msccl/ncv4_ag_hier_4_Simple.xml --collective=all-gather --min=1M --max=1M"),
    collective("topology", "--cluster=dgx1-v100 --nodes=1 --min=1M --max=1M --topology"),
    # Programs.
    ("compile", f"proteus-compile --model=gpt3-6.7b --strategy={W}/strategies/tp8-pp4-dp2-sequence-zero1.json"
     " --inventory=inventory.csv --memoryCsv=memory.csv --layouts=layouts.csv --json=all.json"),
    ("validate", "proteus-validate --quiet --only=v100-pcie --max=1M --csv=sizes.csv"),
    ("fabrics", f"proteus-fabrics --quiet {GPT} --strategy=tp=4,dp=4,globalBatch=4 --nodes=2"
     " --fabrics=rail-optimised,leaf-spine:4+roce,fat-tree --executor=flow --csv=f.csv --json=f.json"),
    flows("incast-dcqcn", f"--cluster={W}/flows/switch-9.txt --flows={W}/flows/incast-8.csv"),
    flows("incast-hpcc", f"--cluster={W}/flows/switch-9.txt --flows={W}/flows/incast-8.csv --congestionControl=hpcc"),
    flows("mixed", f"--cluster={W}/flows/leaf-spine-16.txt --flows={W}/flows/mixed-16.csv --congestionControl=swift"),
    flows("ring", f"--cluster={W}/flows/switch-8.txt --flows={W}/flows/ring-all-reduce-8.csv"),
    # Mistakes.
    ("mistake-model", "proteus-gpt3 --model=7T"),
    ("mistake-cluster", "proteus-run --graph=missing.json --cluster=dgx-x100"),
]

def roce_cluster():
    """Eight servers of one GPU and one NIC on two leaves with one uplink to each of two spines."""
    vertices, links = [], []
    for server in range(8):
        vertices += [
            {"name": f"n{server}.gpu0", "kind": "gpu", "server": server, "model": "A100-SXM4-80GB"},
            {"name": f"n{server}.nic0", "kind": "nic", "server": server},
        ]
        links += [
            {"a": f"n{server}.gpu0", "b": f"n{server}.nic0", "technology": "pcie", "rate_gbytes_per_s": 31.5},
            {"a": f"n{server}.nic0", "b": f"leaf{server // 4}", "technology": "roce", "rate_gbytes_per_s": 12.5},
        ]
    for leaf in range(2):
        vertices.append({"name": f"leaf{leaf}", "kind": "switch"})
        for spine in range(2):
            links.append({"a": f"leaf{leaf}", "b": f"spine{spine}", "technology": "roce", "rate_gbytes_per_s": 12.5})
    vertices += [{"name": f"spine{spine}", "kind": "switch"} for spine in range(2)]
    return json.dumps({"format": "proteus-cluster", "version": 1, "vertices": vertices, "links": links})


# Wall times, and what counts events of the engine per second.
NOT_COMPARED = re.compile(
    r"wall|packet-hops/s|times faster|\bCPU\b|events per|waiting for another|speed-?up",
    re.IGNORECASE,
)


def normalise(text, folder):
    """Without wall times and the names of folders."""
    text = text.replace(str(folder), "OUT").replace(str(SHARED), "SHARED").replace(str(CLONE), "CLONE")
    # Pages and tables in JSON hold wall times in the middle of a line.
    text = re.sub(r'(wall[^"\n]*"[:,]\s*(?:"value": )?)[-+.0-9e]+', r"\1-", text)
    lines = [line for line in text.splitlines() if len(line) > 500 or not NOT_COMPARED.search(line)]
    # A wall time also makes its column wider.
    return "\n".join(re.sub(r"  +", "  ", line) for line in lines) + "\n"


def execute(name, command, folder):
    """Runs a command in a folder of its own, which then holds all that it says."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "roce.json").write_text(roce_cluster())
    command = command.replace("WORKLOADS", str(CLONE / "workloads"))
    command = command.replace("SHARED", str(SHARED / "data"))
    runner = shlex.split(os.environ.get("PROTEUS_RUN", str(CLONE / "ns3") + " run --no-build"))
    result = subprocess.run(
        runner + shlex.split(command), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True
    )
    (folder / "stdout").write_bytes(result.stdout)
    (folder / "stderr").write_bytes(result.stderr + f"exit code {result.returncode}\n".encode())
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            try:
                text = content.decode()
            except UnicodeDecodeError:
                continue  # binary: compared as it is
            path.write_text(normalise(text, folder))
    return result.returncode


def differences(before, after):
    """The first difference of every file that is not the same."""
    names = {p.relative_to(before) for p in before.rglob("*") if p.is_file()}
    names |= {p.relative_to(after) for p in after.rglob("*") if p.is_file()}
    found = []
    for name in sorted(names):
        one, two = before / name, after / name
        if not one.exists() or not two.exists():
            found.append(f"{name}: only {'before' if one.exists() else 'after'}")
        elif one.read_bytes() != two.read_bytes():
            found.append(f"{name}: differs")
            try:
                lines = difflib.unified_diff(
                    one.read_text()[:2000000].splitlines(), two.read_text()[:2000000].splitlines(), lineterm="", n=0
                )
                found += ["    " + line[:240] for line in list(lines)[2:8]]
            except UnicodeDecodeError:
                pass
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("verb", choices=["record", "compare", "list"])
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("-j", type=int, default=1)
    arguments = parser.parse_args()
    runs = [(n, c) for n, c in RUNS if arguments.word in n and ("SHARED" not in c or SHARED.exists())]
    if arguments.verb == "list":
        for name, command in runs:
            print(f"{name:28} {command}")
        return 0
    if arguments.folder is None:
        parser.error("a folder is missing")
    if not SHARED.exists():
        print("skipped: the runs of ../shared, which is not there")
    record = arguments.verb == "record"
    target = arguments.folder.resolve() if record else pathlib.Path(tempfile.mkdtemp(prefix="same-results."))
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        # Both runs of a name are in folders of the same name, which they print.
        futures = {pool.submit(execute, n, c, target / n): n for n, c in runs}
        for future in concurrent.futures.as_completed(futures):
            name, code = futures[future], future.result()
            if record:
                print(f"{name}: exit code {code}", flush=True)
                continue
            found = differences(arguments.folder.resolve() / name, target / name)
            if found:
                bad += 1
                print(f"{name}: NOT THE SAME\n  " + "\n  ".join(found), flush=True)
            shutil.rmtree(target / name)
    if not record:
        print(f"{len(runs) - bad} the same, {bad} not the same")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
