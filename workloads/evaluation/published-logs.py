#!/usr/bin/env python3
# Copyright (c) 2026 The proteus authors
#
# SPDX-License-Identifier: GPL-2.0-only
"""How far simulated collectives are from logs of nccl-tests that nothing was fitted to, by kinds of machines.

    workloads/evaluation/published-logs.py [--manual=FILE] [--write=published-logs.json]

Reads the sets of logs of doc/measured-collectives-sets.rst, where each row has the error of the highest bus bandwidth and the
medians of the errors of time, in percent; where a mended cause changed them, the new error stands in brackets. Prints
within which sizes half of the logs and nine of ten are, as first predicted and now, as the table of the manual has it;
--write keeps the present ones for proteus-collective. Logs of several servers are told apart by what their text says of
the way between a GPU and the network, never by their errors.
"""

import argparse
import json
import pathlib
import re
import sys

import published_rows

FOLDER = pathlib.Path(__file__).resolve().parent
MANUAL = FOLDER.parent.parent / "doc" / "measured-collectives-sets.rst"
FIRST_SET = "Logs That Nothing Was Fitted To"  # a heading
COLUMNS = ["Log", "NCCL", "Peak, %", "<1 MiB, %", ">=1 MiB, %"]
FEWEST_LOGS = 7  # that say how far a kind of machine is off
# What the GPUs of a kind are called in the manual, and their data sheets. The first that is found counts.
KINDS = {
    "PCIe cards and workstations": (
        r"(A100|H100|V100) PCIe|H100 NVL|H200 NVL|RTX|TITAN|GTX|\b(T4|L4|L40S?|A10G?|A30|A40|GB10)\b|bridge of four NVLinks",
        "A10 A10G A30 A40 A100-PCIE-40GB A100-PCIE-80GB GB10 H100-NVL H100-PCIE-80GB H200-NVL L4 L40 L40S RTX-2080-Ti RTX-3090 RTX-4090 RTX-5090 "
        "RTX-6000-Ada RTX-A5000 RTX-A6000 RTX-PRO-6000 T4 TITAN-Xp V100-PCIE-16GB V100-PCIE-32GB",
    ),
    "B200, B300, GB200 and GB300": (r"\bG?B[23]00\b", "B200 B300 GB200 GB300"),
    "H100, H200, H20 and GH200": (
        r"\b(H100|H800|G?H200|H20)\b",
        "H100-SXM5-80GB H100-SXM5-96GB-500W H200 H20 GH200-96GB GH200-96GB-660W",
    ),
    "A100": (r"\bA[18]00\b", "A100-SXM4-40GB A100-SXM4-80GB"),
    "V100": (r"\bV100\b", "V100-SXM2-16GB V100-SXM2-32GB"),
}
# How bytes get from a GPU to the network between servers, as published-logs.json calls it, and what a log says of that. The
# first that is found counts, otherwise DIRECT.
DIRECT, SLOW = "NICs at GPUs", "reported slow"
NETWORKS = {
    SLOW: r"reported slow",  # by their authors, who expected more
    "over CPUs": r"host memory|\bsockets\b|\bTCP,|(through|over) a CPU|at the CPUs|NET_GDR_LEVEL=|at the other socket|\b10 Gb/s"
    r"|\b(T4|L40S|A10G|GB10|P3dn|Polaris)\b",
    "a plug-in": r"EFA\b|TCPXO?\b|\b(A3 High|A3 Mega|P4de?|P5|P6)\b",
}
BAR = re.compile(r"=+(  +=+)+$")
NUMBER = r"[+-]?\d+(?:\.\d+)?"
ERROR = re.compile(rf"({NUMBER})(?:\s*\(({NUMBER})\))?")


class ManualError(ValueError):
    """What is wrong in the manual."""


def read_tables(path):
    """Returns (line number, cells) of all rows of the tables of logs in the manual."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    begin = next((i for i, line in enumerate(lines) if line == FIRST_SET), None)
    if begin is None:
        raise ManualError(f"{path}: has no {FIRST_SET}")
    rows, i = [], begin
    while i + 2 < len(lines):
        if not BAR.match(lines[i]) or not BAR.match(lines[i + 2]):
            i += 1
            continue
        starts = [match.start() for match in re.finditer("=+", lines[i])]

        def split(line):
            return [line[start:end].strip() for start, end in zip(starts, starts[1:] + [None])]

        is_of_logs = split(lines[i + 1]) == COLUMNS
        i += 3
        while not BAR.match(lines[i]):
            if is_of_logs:
                rows.append((i + 1, split(lines[i])))
            i += 1
    return rows


def read_errors(line, cell):
    """Returns the (first, present) errors of a cell: several where it has several collectives, or a range of them."""
    if cell in ("-", "refused"):
        return []
    cell = re.sub(r"^(refused )?\((.*)\)$", r"\2", cell)  # only what is computed now
    found = [ERROR.fullmatch(part.strip()) for part in re.split(r",| to ", cell) if part.strip()]
    if not found or None in found:
        raise ManualError(f"line {line}: {cell}: is no error")
    return [(float(match[1]), float(match[2] or match[1])) for match in found]


def find_kind(line, log, before):
    """Returns the kind of the machine of a log, GPUs and whether there are several servers; before: that of the last row."""
    gpus = next((kind for kind, (names, _) in KINDS.items() if re.search(names, log)), None)
    if gpus is None and before is None:
        raise ManualError(f"line {line}: {log}: names no GPU that is known")
    if re.match(r"\d+(, \d+ and \d+)? x \d+ |H100 PCIe and", log):
        return gpus or before[0], True
    if gpus is None and not re.match(r"\d", log):  # "the same", "another"
        return before
    return gpus or before[0], False


def find_network(log, before):
    """Returns how GPUs of a log reach the network between servers, by its text; before: that of the last row."""
    found = next((network for network, words in NETWORKS.items() if re.search(words, log)), None)
    is_like_before = before and (not re.match(r"\d", log) or re.search(r"\bof them\b", log))
    return found or (before if is_like_before else DIRECT)


def read_logs(path):
    """Returns the columns' errors of the logs by kind, {(GPUs, network): [[errors of a column], ...]}; of one server no network."""
    kinds, kind, network = {}, None, None
    for line, cells in read_tables(path):
        kind = find_kind(line, cells[0], kind)
        network = find_network(cells[0], network)
        columns = kinds.setdefault((kind[0], network if kind[1] else ""), [[], [], []])
        for column, cell in zip(columns, cells[2:]):
            column += read_errors(line, cell) if cell else []
    return kinds


def describe(errors):
    """Returns what half and nine of ten errors are within; "-" of too few."""
    if len(errors) < FEWEST_LOGS:
        return "-"
    return " / ".join(f"{published_rows.find_within(errors, share):.1f}" for share in (0.5, 0.9))


def pool(kinds):
    """Returns the errors by column of several kinds together."""
    return [sum(column, []) for column in zip(*kinds)] or [[], [], []]


def list_kinds(kinds):
    """Returns (GPUs, network, columns): GPUs in one server, GPUs of a network with enough logs, and all of that network."""
    rows = [(gpus, network, columns) for (gpus, network), columns in sorted(kinds.items()) if not network]
    for network in (DIRECT, *reversed(NETWORKS)):
        alike = {gpus: columns for (gpus, other), columns in sorted(kinds.items()) if other == network}
        if network != SLOW:
            rows += [(gpus, network, columns) for gpus, columns in alike.items() if is_enough(columns)]
        rows.append(("all", network, pool(alike.values())))
    return rows


def is_enough(columns):
    """Returns whether there are enough logs to say how far peaks are off, and times from 1 MiB on."""
    return min(len(columns[0]), len(columns[2])) >= FEWEST_LOGS


def list_rows(kinds):
    """Returns the rows of the manual's table."""
    rows = [("GPUs", "Servers", "Logs", "Peak, first", "Peak", "<1 MiB", ">=1 MiB")]
    for gpus, network, columns in [*list_kinds(kinds), ("all", None, pool(kinds.values()))]:
        servers = {"": "one", None: ""}.get(network, f"several, {network}")
        peak, small, large = ([now for _, now in column] for column in columns)
        first = describe([first for first, _ in columns[0]])
        rows.append((gpus, servers, str(len(peak)), first, describe(peak), describe(small), describe(large)))
    return rows


def list_entries(kinds):
    """Returns the kinds with enough logs as published-logs.json has them, errors as shares of 1."""
    entries = []
    for gpus, network, columns in list_kinds(kinds):
        if not is_enough(columns) or network == SLOW:
            continue
        peak, _, large = ([now for _, now in column] for column in columns)
        entry = {"what": gpus, "gpus": KINDS[gpus][1].split() if gpus in KINDS else [], "network": network, "logs": len(peak)}
        for name, errors in (("peak", peak), ("fromMiB", large)):
            entry[f"{name}HalfWithin"] = round(published_rows.find_within(errors, 0.5) / 100, 3)
            entry[f"{name}NineOfTenWithin"] = round(published_rows.find_within(errors, 0.9) / 100, 3)
        entries.append(entry)
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--manual", default=MANUAL, help="with the sets of logs")
    parser.add_argument("--write", help="file for proteus-collective")
    arguments = parser.parse_args()
    kinds = read_logs(arguments.manual)
    print(published_rows.format_table(list_rows(kinds)))
    if arguments.write:
        lines = ",\n".join("  " + json.dumps(entry) for entry in list_entries(kinds))
        head = '{\n "format": "proteus-published-logs",\n "version": 2,\n "source": "doc/measured-collectives-sets.rst",\n "logs": [\n'
        pathlib.Path(arguments.write).write_text(f"{head}{lines}\n ]\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except (ManualError, OSError) as error:
        print(f"published-logs.py: {error}", file=sys.stderr)
        sys.exit(1)
