#!/usr/bin/env python3
# Copyright (c) 2026 The proteus authors
#
# SPDX-License-Identifier: GPL-2.0-only
"""Fits the costs of NCCL's kernels to measured tables, and says how well tables that are left out are met.

    ./ns3 build proteus-validate
    workloads/measurements/fit.py --program=TREE/build/contrib/proteus/examples/ns3.37-proteus-validate-optimized \\
        --holdOut=v100-8-all-reduce,h100-8-all-reduce --output=fit.json

Fitted are the numbers whose source, as proteus-validate --saveKernelCosts=FILE writes it, begins with "fitted", and
those of the launch; numbers whose source is "as NAME" follow those of that generation; all others stay. The fit begins
at what NCCL's tuner counts (START), not at the present numbers. One number after the other is multiplied or divided
by a step, and keeps what is better; when nothing gets better, the step gets smaller (coordinate descent), and after
the smallest step begins large again, until that changes nothing. --generations fits some generations only, without
the launch, and --start goes on with an earlier fit. Better is a
lower mean, over the tables that a number has to do with, of the mean |log(simulated / measured)| of some sizes of
each, 1 KiB to --largest, and a small price (PRICE) for being far from the start, so that numbers that hardly matter
stay there. The mean and not the median, which most steps do not move; but of logarithms and not of squares, so that a
size that cannot be met counts little.

A number that no size of a table depends on stays at its start, and the output says so. Choices of algorithm and
protocol do not depend on the numbers, and a size has one protocol, so that few sizes are simulated for each step.
It prints the numbers beside the present ones, and the errors of all tables at all sizes up to 1 GiB by the numbers
that were fitted and by the present ones. It takes some minutes.
"""

import argparse
import copy
import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROTOCOLS = ("LL", "LL128", "Simple")

# Where the fit begins: latencies and bandwidths of NCCL's tuner (NVIDIA/nccl v2.30.7, src/graph/tuning.cc), of rings,
# the same for all generations where it has one number; where it has none, a round number.
START = {
    "startUs": (6.6, 14, 8.4),  # baseLatencies
    "busyUs": (0.5, 0.5, 0.5),  # none
    "nvlinkLatencyUs": (0.6, 1.9, 3.4),  # hwLatencies
    "pcieLatencyUs": (1, 2.5, 5.7),
    "networkLatencyUs": (2.7, 4, 14),
    "networkBusyUs": (1, 1, 3),  # getNetOverhead(): 1 us, of Simple three times
    "switchLatencyUs": (None, None, 12.5),  # hwLatencies of NVLS, there and back
    "switchBusyUs": (None, None, 1),  # none
    "switchBlockGBps": (None, None, 20),  # none: NVLinks of a GPU over channels
    "messageGBps": (None, None, 35),  # as blockGBps
    "gpuGBps": (None, 300, 300),  # none: NVLinks of a GPU
}
START_BLOCK = {"V100": (None, 20, None), "A100": (None, 20, None), "H100": (None, 36.7, None), "B200": (None, 40, None)}
# Error, as a part of one, that a number must save to be changed by a factor of e.
PRICE = 0.003
START_LAUNCH = {"kernelUs": 5, "channelUs": 0.1, "peerUs": 0.3, "sharedThreadUs": 5}  # none
GENERATIONS = (("v100", "V100"), ("dgx2", "V100"), ("t4", "V100"), ("a100", "A100"), ("h100", "H100"), ("b200", "B200"))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="proteus-validate")
    parser.add_argument("--holdOut", default="", help="tables that are left out, commas between them")
    parser.add_argument("--generations", default="V100,A100,H100,B200", help="which are fitted")
    parser.add_argument("--sizes", type=int, default=8, help="sizes of a table that count")
    parser.add_argument("--largest", type=int, default=64 << 20, help="bytes up to which sizes count")
    parser.add_argument("--rounds", type=int, default=5, help="how often the step begins large")
    parser.add_argument("--least", type=float, default=1.04, help="step at which the fit ends")
    parser.add_argument("--start", default="", help="file of an earlier fit to go on with")
    parser.add_argument("--output", default="", help="file for the numbers that were fitted")
    parser.add_argument("--brief", action="store_true", help="no errors of all tables at the end")
    parser.add_argument("--quiet", action="store_true", help="no line for every number that got better")
    return parser.parse_args()


class Size:
    """A size of a table, and what its simulation depends on."""

    def __init__(self, table, row, choice):
        self.table = table["name"]
        self.bytes = row["size_bytes"]
        self.measured_us = float(row["time_us"])
        self.keys = find_keys(table, choice)


def find_keys(table, choice):
    """Names of the numbers that a size may depend on: (generation, field, protocol)."""
    generation, protocol = table["generation"], choice["protocol"]
    is_message = table["collective"] in ("send-recv", "all-to-all")
    fields = ["startUs", "busyUs"]
    if choice["algorithm"].startswith("nvls"):
        fields += ["switchLatencyUs", "switchBusyUs", "switchBlockGBps"]
    elif is_message and protocol == "Simple":
        fields += ["messageGBps", "gpuGBps"]
    else:
        fields += ["blockGBps", "gpuGBps"]
    if int(table["nodes"]) > 1:
        fields += ["networkLatencyUs", "networkBusyUs"]
    if int(table["gpus"]) > int(table["nodes"]) and not choice["algorithm"].startswith("nvls"):
        fields.append("pcieLatencyUs" if "pcie" in table["cluster"] else "nvlinkLatencyUs")
    keys = {(generation, field, protocol) for field in fields}
    if table["launch"] == "one-process":
        keys |= {("launch", name, "") for name in ("kernelUs", "channelUs", "sharedThreadUs")}
        if is_message:
            keys.add(("launch", "peerUs", ""))
    return keys


class Validator:
    """Runs proteus-validate, and remembers what it said."""

    def __init__(self, program):
        self.program = program
        self.folder = tempfile.TemporaryDirectory()
        self.known = {}
        self.runs = 0
        self.simulated = 0
        self.present = self._load_present()
        self.tables = self._load_tables()

    def _load_present(self):
        path = os.path.join(self.folder.name, "present.json")
        self._call("--saveKernelCosts=" + path, "--only=v100-2", "--max=256K")
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def _load_tables(self):
        with open(os.path.join(HERE, "tables.csv"), encoding="utf-8") as file:
            tables = list(csv.DictReader(file))
        for table in tables:
            table["name"] = table["file"][: -len(".csv")]
            table["generation"] = next(g for word, g in GENERATIONS if word in table["cluster"] + table["name"])
            with open(os.path.join(HERE, table["file"]), encoding="utf-8") as file:
                table["rows"] = list(csv.DictReader(file))
        return tables

    def _call(self, *options):
        command = [self.program, "--brief", "--quiet", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit("fit.py: " + " ".join(command) + ": " + done.stderr.strip())
        self.runs += 1
        return done.stdout

    def simulate(self, rows, costs):
        """Simulates {table: sizes}. Returns {(table, bytes): row of --csv}."""
        folder = self.folder.name
        path = os.path.join(folder, "costs.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(costs, file)
        with open(os.path.join(folder, "tables.csv"), "w", encoding="utf-8", newline="") as file:
            fields = [f for f in self.tables[0] if f not in ("name", "generation", "rows")]
            writer = csv.DictWriter(file, fields, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            for table in self.tables:
                if table["name"] in rows:
                    line = dict(table)
                    if ".json" in line["cluster"]:
                        line["cluster"] = os.path.relpath(os.path.join(HERE, line["cluster"]), folder)
                    writer.writerow(line)
        for table in self.tables:
            if table["name"] in rows:
                with open(os.path.join(folder, table["file"]), "w", encoding="utf-8", newline="") as file:
                    writer = csv.DictWriter(file, table["rows"][0].keys(), lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(r for r in table["rows"] if r["size_bytes"] in rows[table["name"]])
        output = os.path.join(folder, "out.csv")
        self._call("--directory=" + folder, "--kernelCosts=" + path, "--csv=" + output)
        self.simulated += sum(len(sizes) for sizes in rows.values())
        with open(output, encoding="utf-8") as file:
            return {(row["table"], row["size_bytes"]): row for row in csv.DictReader(file)}

    def get_errors(self, sizes, costs):
        """Returns |log(simulated / measured)| of each size."""
        tags = [
            (s.table, s.bytes, tuple(get_value(costs, key) for key in sorted(s.keys) if has_value(costs, key)))
            for s in sizes
        ]
        missing = {}
        for size, tag in zip(sizes, tags):
            if tag not in self.known:
                missing.setdefault(size.table, set()).add(size.bytes)
        if missing:
            found = self.simulate(missing, costs)
            for size, tag in zip(sizes, tags):
                if tag not in self.known:
                    simulated_us = float(found[(size.table, size.bytes)]["simulated_us"])
                    self.known[tag] = abs(math.log(simulated_us / size.measured_us))
        return [self.known[tag] for tag in tags]


def get_field(costs, key):
    group, field, protocol = key
    return costs["launch"][field] if group == "launch" else costs["generations"][group][field][protocol]


def has_value(costs, key):
    group, field, protocol = key
    return group == "launch" or protocol in costs["generations"][group].get(field, {})


def get_value(costs, key):
    return get_field(costs, key)["value"]


class Parameter:
    """A number that is fitted, and those that follow it."""

    def __init__(self, keys):
        self.keys = keys  # the first one is its name

    def set(self, costs, value):
        for key in self.keys:
            get_field(costs, key)["value"] = value

    def concerns(self, size):
        return any(key in size.keys for key in self.keys)

    def __str__(self):
        return " ".join(part for part in self.keys[0] if part)


def list_parameters(costs, generations):
    """All numbers that are fitted, by the sources of the present ones."""
    parameters = {}
    busy = {}
    for name, rows in costs["generations"].items():
        if name not in generations:
            continue
        for field, row in rows.items():
            for protocol, number in row.items():
                key = (name, field, protocol)
                if not number["source"].startswith("fitted"):
                    continue
                if field == "busyUs":  # one for all generations that are fitted
                    busy.setdefault(protocol, []).append(key)
                else:
                    parameters[key] = Parameter([key])
    for name, rows in costs["generations"].items():
        for field, row in rows.items():
            for protocol, number in row.items():
                follows = re.match(r"as (\w+100)\b", number["source"])
                if follows and (follows[1], field, protocol) in parameters:
                    parameters[(follows[1], field, protocol)].keys.append((name, field, protocol))
    shared = [Parameter(keys) for keys in busy.values()]
    launch = [Parameter([("launch", name, "")]) for name in START_LAUNCH]
    return list(parameters.values()) + shared + (launch if len(generations) == len(START_BLOCK) else [])


def get_start(key):
    group, field, protocol = key
    if group == "launch":
        return START_LAUNCH[field]
    row = START_BLOCK[group] if field == "blockGBps" else START[field]
    return row[PROTOCOLS.index(protocol)]


def choose_sizes(validator, count, largest):
    """Sizes of each table that count: as many as wanted, evenly over the logarithm."""
    rows = {}
    for table in validator.tables:
        allowed = [r for r in table["rows"] if 1024 <= int(r["size_bytes"]) <= largest]
        n = min(count, len(allowed))
        places = {round(i * (len(allowed) - 1) / max(n - 1, 1)) for i in range(n)}
        rows[table["name"]] = {allowed[i]["size_bytes"] for i in places}
    choices = validator.simulate(rows, validator.present)
    return [
        Size(table, row, choices[(table["name"], row["size_bytes"])])
        for table in validator.tables
        for row in table["rows"]
        if row["size_bytes"] in rows[table["name"]]
    ]


def get_score(validator, sizes, costs):
    """Mean over tables of the mean error of their sizes."""
    tables = {}
    for size, error in zip(sizes, validator.get_errors(sizes, costs)):
        tables.setdefault(size.table, []).append(error)
    return statistics.mean(statistics.mean(errors) for errors in tables.values())


def get_cost(validator, sizes, parameter, costs):
    """What the fit makes small: the error, and how far a number is from its start."""
    distance = abs(math.log(get_value(costs, parameter.keys[0]) / get_start(parameter.keys[0])))
    return get_score(validator, sizes, costs) + PRICE * distance


def step_once(validator, sizes, parameter, costs, step):
    """Tries a number larger and smaller, and keeps what is best. Returns cost before and after."""
    concerned = [size for size in sizes if parameter.concerns(size)]
    best = before = get_value(costs, parameter.keys[0])
    least = start = get_cost(validator, concerned, parameter, costs)
    for value in (float(f"{before * step:.3g}"), float(f"{before / step:.3g}")):
        parameter.set(costs, value)
        cost = get_cost(validator, concerned, parameter, costs)
        if cost < least - 1e-5:
            least, best = cost, value
            break
    parameter.set(costs, best)
    return start, least


def fit(validator, sizes, parameters, costs, options):
    """Coordinate descent."""
    informed = [p for p in parameters if any(p.concerns(size) for size in sizes)]
    rounds = 0
    while True:
        before = [get_value(costs, p.keys[0]) for p in informed]
        step = 1.5
        while step > options.least:
            is_better = False
            for parameter in informed:
                start, end = step_once(validator, sizes, parameter, costs, step)
                is_better = is_better or end < start
                if end < start and not options.quiet:
                    value = get_value(costs, parameter.keys[0])
                    print(f"  step {step:.3f}  {str(parameter):32} {value:<8g} {start:.4f} -> {end:.4f}", flush=True)
            write(costs, options.output)  # so that --start may go on with it
            if not is_better:
                step = math.sqrt(step)
        rounds += 1
        if rounds == options.rounds or before == [get_value(costs, p.keys[0]) for p in informed]:
            return informed


def write(costs, path):
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(costs, file, indent=1)
            file.write("\n")


def print_numbers(parameters, informed, costs, present):
    print(f"\n{'number':36} {'fitted':>8} {'present':>8} {'ratio':>6}")
    for parameter in parameters:
        key = parameter.keys[0]
        mark = "" if parameter in informed else "  no table: start"
        value, now = get_value(costs, key), get_value(present, key)
        print(f"{str(parameter):36} {value:8.3g} {now:8.3g} {value / now:6.2f}{mark}")


def print_errors(validator, costs, held_out, title):
    """Runs all tables at all sizes up to 1 GiB."""
    rows = {
        table["name"]: {row["size_bytes"] for row in table["rows"] if 1024 <= int(row["size_bytes"]) <= 1 << 30}
        for table in validator.tables
    }
    found = validator.simulate(rows, costs)
    print(f"\n{title}: error of the peak, median error of time, %\n{'table':31} {'peak':>6} {'<1 MiB':>7} {'>=1 MiB':>8} {'>=1 KiB':>8}")
    for table in validator.tables:
        pairs = [
            (int(row["size_bytes"]), float(row["time_us"]), float(found[(table["name"], row["size_bytes"])]["simulated_us"]))
            for row in table["rows"]
            if (table["name"], row["size_bytes"]) in found
        ]
        peak = max(b / s for b, _, s in pairs) / max(b / m for b, m, _ in pairs) - 1
        parts = []
        for least, most in ((1024, 1 << 20), (1 << 20, 1 << 31), (1024, 1 << 31)):
            errors = [abs(s / m - 1) for b, m, s in pairs if least <= b < most]
            parts.append(f"{100 * statistics.median(errors):.1f}" if len(errors) > 2 else "-")
        mark = "  left out" if table["name"] in held_out else ""
        print(f"{table['name']:31} {100 * peak:+6.1f} {parts[0]:>7} {parts[1]:>8} {parts[2]:>8}{mark}")


def main():
    options = parse_arguments()
    validator = Validator(options.program)
    names = [table["name"] for table in validator.tables]
    held_out = [name for name in options.holdOut.split(",") if name]
    for name in held_out:
        if name not in names:
            sys.exit(f"fit.py: --holdOut={name}: no table of tables.csv; there are {', '.join(names)}")
    generations = options.generations.split(",")
    for name in generations:
        if name not in START_BLOCK:
            sys.exit(f"fit.py: --generations={name}: there are {', '.join(START_BLOCK)}")
    generation_of = {table["name"]: table["generation"] for table in validator.tables}
    all_sizes = choose_sizes(validator, options.sizes, options.largest)
    sizes = [s for s in all_sizes if s.table not in held_out and generation_of[s.table] in generations]
    if not sizes:
        sys.exit("fit.py: --holdOut leaves no table of --generations to fit to")
    costs = copy.deepcopy(validator.present)
    parameters = list_parameters(validator.present, generations)
    earlier = None
    if options.start:
        with open(options.start, encoding="utf-8") as file:
            costs = json.load(file)
            earlier = copy.deepcopy(costs)
    for parameter in parameters:
        key = parameter.keys[0]
        parameter.set(costs, get_value(earlier, key) if earlier else get_start(key))
    fitted_to = "fitted by workloads/measurements/fit.py; left out: " + (", ".join(held_out) or "none")
    informed = fit(validator, sizes, parameters, costs, options)
    for parameter in parameters:
        for key in parameter.keys:
            source = fitted_to if parameter in informed else "no table informs it: start of workloads/measurements/fit.py"
            get_field(costs, key)["source"] = source
    costs["description"] = fitted_to
    write(costs, options.output)
    print_numbers(parameters, informed, costs, validator.present)
    scores = [get_score(validator, sizes, c) for c in (costs, validator.present)]
    print(f"\nmean error of what was fitted to: {scores[0]:.4f}, of the present numbers there: {scores[1]:.4f}")
    print(f"{validator.runs} runs, {validator.simulated} sizes")
    if not options.brief:
        print_errors(validator, costs, held_out, "fitted")
        print_errors(validator, validator.present, held_out, "present")


if __name__ == "__main__":
    main()
