#!/usr/bin/env python3
# Copyright (c) 2026 The proteus authors
#
# SPDX-License-Identifier: GPL-2.0-only
"""Published iteration times of training on A100, H100, B200 and V100, and what the flows say.

    ./ns3 build proteus-run
    workloads/evaluation/published-iterations.py [--maximumGpus=1024] [--program="COMMAND"] [--rows=FILE ...] [WORD]

Rows of published-iterations.csv, or of other files (--rows may stand several times), or those with WORD in them:
measured and predicted seconds, and the error; then mean size of the errors, mean error and rank correlation (Spearman)
by group, and of all even and all odd rows; behind them what the first prediction of the same rows was worth; then how
far the rows of each framework and GPU are off. Nothing is fitted to these rows. Where a job has more GPUs than
--maximumGpus, fewer replicas with as much work each are simulated, which makes the reduction of gradients a little
faster; "replicas" says how many. --errors=published-errors.json writes how far they are off into that file, whose entries
say which GPUs belong together, and prints them as the table of doc/published-iterations.rst.
"""

import argparse
import collections
import json
import pathlib
import shlex
import statistics
import tempfile

import published_rows

FOLDER = pathlib.Path(__file__).resolve().parent
COLUMNS = "group model variables cluster dp tp pp options global_batch framework measured_s published first_s".split()
FEWEST_ROWS = 7  # that say how far a framework on a GPU is off
GPUS_PER_SERVER = {
    "dgx2": 16,
    "gb200-nvl72": 72,
    "hgx-a100-4gpu": 4,
    "hgx-h100-4gpu": 4,
    "hgx-h200-4gpu": 4,
    "quad-a100": 4,
    "quad-gh200": 4,
}


def make_plan(row, maximum_gpus):
    """Returns the strategy of a row in the short form, its replicas and its servers."""
    options = dict(option.split("=") for option in row["options"].split(",") if option)
    replicas = int(row["dp"])
    per_replica = int(row["tp"]) * int(row["pp"]) * int(options.get("cp", 1))
    simulated = replicas
    if options.get("zero") != "3":  # whose replicas share the parameters
        experts = int(options.get("ep", 1))  # replicas that share them
        if "etp" in options:  # or devices, whatever else they share
            experts = -(-experts * int(options["etp"]) * int(row["pp"]) // per_replica)
        fewest = max(2, experts)
        simulated = min(replicas, max(fewest, maximum_gpus // per_replica))
    batch = int(row["global_batch"]) // replicas * simulated
    plan = f"dp={simulated},tp={row['tp']},pp={row['pp']},globalBatch={batch},{row['options']}"
    per_server = GPUS_PER_SERVER.get(row["cluster"].split(":")[0], 8)
    return plan, simulated, -(-simulated * per_replica // per_server)


def predict(line, row, arguments):
    """Returns what a run says of an iteration, and the replicas that were simulated."""
    plan, replicas, servers = make_plan(row, arguments.maximumGpus)
    cluster = row["cluster"]
    is_file = cluster.endswith(".json")  # which has its servers
    with tempfile.TemporaryDirectory() as folder:
        summary = pathlib.Path(folder) / "summary.json"
        command = shlex.split(arguments.program) + [
            "--quiet",
            "--ignoreMemory",
            f"--model={row['model']}",
            f"--strategy={plan}",
            f"--framework={row['framework']}",
            f"--cluster={FOLDER.parent.parent / cluster if is_file else cluster}",
            f"--executor={arguments.executor}",
            f"--summary={summary}",
        ]
        if not is_file:
            command.append(f"--nodes={servers}")
        if row["variables"]:
            command.append(f"--variables={row['variables']}")
        published_rows.run(line, command)
        return json.loads(summary.read_text()), replicas


def rank(values):
    """Returns the ranks of values, equal ones sharing theirs."""
    ordered = sorted(values)
    return [(ordered.index(value) + len(ordered) - 1 - ordered[::-1].index(value)) / 2 for value in values]


def correlate(pairs):
    """Returns the rank correlation of pairs, or None where there are fewer than three or all are equal."""
    first, second = (rank(values) for values in zip(*pairs))
    if len(pairs) < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return statistics.correlation(first, second)


def describe(pairs):
    """Returns what (measured, predicted) pairs are worth."""
    errors = [100 * (predicted / measured - 1) for measured, predicted in pairs]
    size = statistics.mean(map(abs, errors))
    correlation = correlate(pairs)
    text = "" if correlation is None else f", rank {correlation:.3f}"
    return f"error {size:5.1f} %, mean {statistics.mean(errors):+5.1f} %{text}"


def print_errors(name, found):
    """Prints a line about (measured, predicted, first predicted) seconds."""
    now = describe([(measured, predicted) for measured, predicted, _ in found])
    first = describe([(measured, predicted) for measured, _, predicted in found])
    print(f"{name:32} {len(found):3} rows, {now}; first {first}")


def print_kind(framework, gpu, errors):
    """Prints how far the rows of a framework on a GPU are off, by their errors in percent."""
    half, most = published_rows.find_within(errors, 0.5), published_rows.find_within(errors, 0.9)
    print(
        f"{framework:20} {gpu:20} {len(errors):3} rows, half within {half:4.1f} %, nine of ten within {most:4.1f} %, "
        f"mean {statistics.mean(errors):+5.1f} %"
    )


def update_errors(path, kinds):
    """Writes the errors in percent by (framework, GPU) into a file of them, and prints it as a table."""
    document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    entries = document.pop("errors")
    for (framework, gpu), errors in sorted(kinds.items()):
        if not any(entry["framework"] == framework and gpu in entry["gpus"] for entry in entries):
            print(f"{path}: has no entry for {framework} on {gpu}, {len(errors)} rows")
    for entry in entries:
        errors = [error for gpu in entry["gpus"] for error in kinds.get((entry["framework"], gpu), [])]
        entry["rows"] = len(errors)
        if len(errors) < FEWEST_ROWS:
            print(f"{path}: {entry['framework']} on {entry['gpu']} is left out: {len(errors)} rows, fewer than {FEWEST_ROWS}")
            continue
        entry["halfWithin"] = round(published_rows.find_within(errors, 0.5) / 100, 3)
        entry["nineOfTenWithin"] = round(published_rows.find_within(errors, 0.9) / 100, 3)
        entry["mean"] = round(statistics.mean(errors) / 100, 3)
    entries = [entry for entry in entries if entry["rows"] >= FEWEST_ROWS]
    entries.sort(key=lambda entry: (entry["nineOfTenWithin"], entry["framework"], entry["gpu"]))
    head = "".join(f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in document.items())
    lines = ",\n".join("  " + json.dumps(entry) for entry in entries)
    pathlib.Path(path).write_text(f'{{\n{head} "errors": [\n{lines}\n ]\n}}\n', encoding="utf-8")
    everything = sum(kinds.values(), [])
    table = [("Framework", "GPU", "Rows", "half within, %", "nine of ten", "mean", "What they are")]
    for entry in entries:
        numbers = [f"{100 * entry[name]:.1f}" for name in ("halfWithin", "nineOfTenWithin")]
        mean = f"{100 * entry['mean']:+.1f}"
        table.append((f"``{entry['framework']}``", entry["gpu"], str(entry["rows"]), *numbers, mean, entry["what"]))
    half, most = (published_rows.find_within(everything, share) for share in (0.5, 0.9))
    mean = f"{statistics.mean(everything):+.1f}"
    few = f"with kinds of fewer than {FEWEST_ROWS} rows"
    table.append(("all", "", str(len(everything)), f"{half:.1f}", f"{most:.1f}", mean, few))
    print(published_rows.format_table(table))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--executor", default="flow")
    parser.add_argument("--maximumGpus", type=int, default=1024)
    parser.add_argument("--program", default=f"{FOLDER.parent.parent}/ns3 run --no-build proteus-run --", help="that runs a job")
    parser.add_argument("--rows", action="append", help="file; may stand several times")
    parser.add_argument("--errors", help="file of errors by framework and GPU to write")
    parser.add_argument("word", nargs="?", default="")
    arguments = parser.parse_args()
    if arguments.maximumGpus < 1:
        parser.error("--maximumGpus must be a number from 1")
    files = arguments.rows or [FOLDER / "published-iterations.csv"]
    rows = [row for file in files for row in published_rows.read_table(file, COLUMNS)]
    for line, row in rows:
        published_rows.check_iteration(line, row)
    numbers = {line: number for number, (line, _) in enumerate(rows)}
    found = collections.defaultdict(list)
    halves = collections.defaultdict(list)
    kinds = collections.defaultdict(list)
    for line, row in published_rows.select(", ".join(map(str, files)), rows, arguments.word):
        measured = float(row["measured_s"])
        run, replicas = predict(line, row, arguments)
        predicted = run["iteration_s"]
        error = 100 * (predicted / measured - 1)
        seconds = (measured, predicted, float(row["first_s"] or predicted))
        found[row["group"]].append(seconds)
        halves["odd rows" if numbers[line] % 2 else "even rows"].append(seconds)
        kinds[row["framework"], run["gpu"]].append(error)
        label = f"{row['group']}: {row['model']}, {row['published']}"
        print(f"{label:84} {replicas:4} replicas {measured:9.4g} {predicted:9.4g} s {error:+6.1f} %", flush=True)
    for name, seconds in list(found.items()) + sorted(halves.items()):
        print_errors(name, seconds)
    print_errors("all", sum(halves.values(), []))
    for (framework, gpu), errors in sorted(kinds.items()):
        print_kind(framework, gpu, errors)
    if arguments.errors:
        update_errors(arguments.errors, kinds)


if __name__ == "__main__":
    published_rows.start(main)
