#!/usr/bin/env python3
# Copyright (c) 2026 The proteus authors
#
# SPDX-License-Identifier: GPL-2.0-only
"""Published training throughputs of MPT models under FSDP, and what the flows say.

    ./ns3 build proteus-run
    workloads/evaluation/llm-foundry.py [--framework=fsdp1] [--executor=flow] [--program="COMMAND"] [WORD]

Rows of llm-foundry.csv, or those with WORD in them: measured and predicted tokens per second, and the error of the
time of an iteration; then means by GPU and sequence length. Nothing is fitted to these rows.
"""

import argparse
import collections
import pathlib
import re
import shlex
import statistics

import published_rows

FOLDER = pathlib.Path(__file__).resolve().parent
# layers, hidden, heads: scripts/train/yamls/pretrain of mosaicml/llm-foundry; vocabulary 50368 in all.
MODELS = {
    "125m": (12, 768, 12),
    "350m": (24, 1024, 16),
    "760m": (24, 1536, 12),
    "1b": (24, 2048, 16),
    "3b": (32, 2560, 20),
    "7b": (32, 4096, 32),
    "13b": (40, 5120, 40),
    "30b": (48, 7168, 56),
    "70b": (80, 8192, 64),
}
COLUMNS = "model sequence gpus gpu micro_batch micro_batches zero recompute tokens_per_s".split()
CLUSTERS = {"h100_80gb": "dgx-h100", "a100_80gb": "dgx-a100:nic=8x200G-roce"}


def check(line, row):
    """Refuses a row whose numbers or names cannot be."""
    for name, known in (("model", MODELS), ("gpu", CLUSTERS), ("zero", ("2", "3")), ("recompute", ("none", "full"))):
        if row[name] not in known:
            raise published_rows.RowError(f"{line}: {name} must be one of {', '.join(known)}, not '{row[name]}'")
    for name in ("sequence", "gpus", "micro_batch", "micro_batches"):
        published_rows.to_count(line, name, row[name])
    if int(row["gpus"]) % 8 != 0:
        raise published_rows.RowError(f"{line}: gpus = {row['gpus']} fill no servers of 8")
    published_rows.to_number(line, "tokens_per_s", row["tokens_per_s"], 1e9)


def predict(line, row, arguments):
    """Returns tokens per second of a row."""
    layers, hidden, heads = MODELS[row["model"]]
    gpus, micro_batch = int(row["gpus"]), int(row["micro_batch"])
    batch = gpus * micro_batch * int(row["micro_batches"])
    command = shlex.split(arguments.program) + [
        "--quiet",
        "--ignoreMemory",
        "--model=gpt",
        f"--variables=layers={layers},hidden={hidden},heads={heads},vocabulary=50368,sequence={row['sequence']}",
        f"--strategy=dp={gpus},zero={row['zero']},microBatch={micro_batch},globalBatch={batch},recompute={row['recompute']}",
        f"--framework={arguments.framework}",
        f"--cluster={CLUSTERS[row['gpu']]}",
        f"--nodes={gpus // 8}",
        f"--executor={arguments.executor}",
    ]
    text = published_rows.run(line, command)
    return float(re.search(r"throughput +(\d+) tokens/s", text).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--framework", default="llm-foundry")
    parser.add_argument("--executor", default="flow")
    parser.add_argument("--program", default=f"{FOLDER.parent.parent}/ns3 run --no-build proteus-run --", help="that runs a job")
    parser.add_argument("--rows", default=FOLDER / "llm-foundry.csv", help="file")
    parser.add_argument("word", nargs="?", default="")
    arguments = parser.parse_args()
    rows = published_rows.read_table(arguments.rows, COLUMNS)
    for line, row in rows:
        check(line, row)
    errors = collections.defaultdict(list)
    for line, row in published_rows.select(arguments.rows, rows, arguments.word):
        text = ",".join(row.values())
        measured = float(row["tokens_per_s"])
        predicted = predict(line, row, arguments)
        error = 100 * (measured / predicted - 1)
        length = int(row["sequence"])
        group = "to 2,048" if length <= 2048 else "to 8,192" if length <= 8192 else "to 65,536"
        errors[row["gpu"], group].append(error)
        print(f"{text:60} {predicted:10.0f}  {error:+6.1f} %", flush=True)
    for (gpu, group), found in sorted(errors.items()):
        size = statistics.mean(map(abs, found))
        print(f"{gpu} {group:9} tokens: {len(found):3} rows, error {size:4.1f} %, mean {statistics.mean(found):+5.1f} %")


if __name__ == "__main__":
    published_rows.start(main)
