#!/usr/bin/env python3
# Copyright (c) 2026 The proteus authors
#
# SPDX-License-Identifier: GPL-2.0-only
"""Counts how far flows are from packets, by what was run and on what, from tables of test/random-jobs.py --csv.

    test/random-jobs.py --program=PROGRAM --work=collectives --first=3000000 --seconds=600 --csv=jobs.csv
    workloads/evaluation/flow-errors.py jobs.csv --keep --write=workloads/evaluation/flow-errors.json

With --keep what the file says stays where the tables say nothing.
Prints the table of the manual; without tables that of the file. Runs whose settings no others have (congestion
controls, attributes of packets) do not count. What is so of fewer than ten jobs is left out.
"""

import argparse
import csv
import json
import pathlib
import sys

FILE = pathlib.Path(__file__).parent / "flow-errors.json"
LEAST_JOBS = 10
WORK = {"models": "models", "collectives": "collectives", "graphs": "groups of collectives"}
COLUMNS = ["number", "work", "servers", "flow_s", "packet_s", "setting", "job"]


def read_differences(paths):
    """Returns the differences of each work and setting."""
    kinds = {}
    for path in paths:
        with open(path, encoding="utf-8", newline="") as table:
            for line, cells in enumerate(csv.reader(table), 1):
                if len(cells) != len(COLUMNS) or cells[1] not in WORK:
                    sys.exit(f"{path}, line {line}: is no line of random-jobs.py --csv")
                row = dict(zip(COLUMNS, cells))
                if row["setting"]:
                    difference = abs(float(row["flow_s"]) / float(row["packet_s"]) - 1)
                    kinds.setdefault((WORK[row["work"]], row["setting"]), []).append(difference)
    return kinds


def count(kinds):
    """Returns an entry for each work and setting that has enough jobs."""
    entries = []
    for (work, setting), differences in sorted(kinds.items()):
        differences.sort()
        if len(differences) < LEAST_JOBS:
            continue
        half, nine_of_ten, most = (differences[int(part * (len(differences) - 1))] for part in (0.5, 0.9, 1))
        entry = {"executor": "flow", "work": work, "setting": setting, "jobs": len(differences)}
        errors = {"halfWithin": half, "nineOfTenWithin": nine_of_ten, "most": most}
        entries.append({**entry, **{name: round(error, 4) for name, error in errors.items()}})
    return entries


def keep(entries, known):
    """Returns the entries, and those that are known of other works and settings."""
    merged = {(entry["work"], entry["setting"]): entry for entry in [*known, *entries]}
    return [merged[name] for name in sorted(merged)]


def print_table(entries):
    """Prints the table of the manual."""
    rows = [("On", "jobs", "half within", "nine of ten", "all within")]
    for work in WORK.values():
        rows.append((f"*{work}*", "", "", "", ""))
        for entry in entries:
            if entry["work"] == work:
                errors = (f"{100 * entry[name]:.1f} %" for name in ("halfWithin", "nineOfTenWithin", "most"))
                rows.append((entry["setting"], str(entry["jobs"]), *errors))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    bar = "  ".join("=" * width for width in widths)
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    print("\n".join([bar, lines[0], bar, *lines[1:], bar]))


def main():
    """Counts, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", help="written by test/random-jobs.py --csv")
    parser.add_argument("--keep", action="store_true", help="keep what the file has besides")
    parser.add_argument("--write", help="file of errors to write")
    parser.add_argument("--source", default="test/random-jobs.py --csv", help="what the file says of its tables")
    options = parser.parse_args()
    known = json.loads(FILE.read_text(encoding="utf-8"))["errors"]
    entries = known
    if options.tables:
        entries = count(read_differences(options.tables))
        entries = keep(entries, known) if options.keep else entries
    print_table(entries)
    if options.write:
        with open(options.write, "w", encoding="utf-8") as file:
            head = {"format": "proteus-flow-errors", "version": 1, "source": options.source}
            lines = ",\n".join("  " + json.dumps(entry) for entry in entries)
            file.write(json.dumps(head, indent=1)[:-2] + ',\n "errors": [\n' + lines + "\n ]\n}\n")


if __name__ == "__main__":
    main()
