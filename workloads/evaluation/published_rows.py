# Copyright (c) 2026 The proteus authors
#
# SPDX-License-Identifier: GPL-2.0-only
"""Reads tables of published results, and refuses what is wrong in them with file and line."""

import csv
import json
import math
import pathlib
import re
import subprocess
import sys

MODELS = pathlib.Path(__file__).resolve().parents[1] / "models"
OF_PLAN = ("dp", "tp", "pp", "globalBatch")  # have columns of their own
MOST = 2**31
MOST_SECONDS = 1e6  # of an iteration
ROUNDING = 0.01  # of a figure that was published


class RowError(ValueError):
    """What is wrong in a table."""


def read_table(path, columns):
    """Returns (line, row) of the rows of a CSV file with these columns; lines with # say what it is."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise RowError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise RowError(f"{path}: byte {error.start} is not UTF-8") from None
    # Lines keep their numbers: those of remarks are empty.
    lines = ["" if line.startswith("#") else line for line in text.splitlines()]
    reader = csv.reader(lines, strict=True)
    rows, header, before = [], None, {}
    try:
        for fields in reader:
            line = f"{path}:{reader.line_num}"
            if not fields:
                continue
            if header is None:
                header = fields
                if sorted(header) != sorted(columns):
                    raise RowError(f"{line}: the columns must be {', '.join(columns)}")
                continue
            if len(fields) != len(header):
                raise RowError(f"{line}: has {len(fields)} fields for {len(header)} columns")
            if tuple(fields) in before:
                raise RowError(f"{line}: says the same as line {before[tuple(fields)]}")
            before[tuple(fields)] = reader.line_num
            rows.append((line, dict(zip(header, fields))))
    except csv.Error as error:
        raise RowError(f"{path}:{reader.line_num}: {error}") from None
    if not rows:
        raise RowError(f"{path}: has no row")
    return rows


def find_within(errors, share):
    """Returns the size of error within which this share of the errors are."""
    sizes = sorted(map(abs, errors))
    return sizes[math.ceil(share * len(sizes)) - 1]


def format_table(rows):
    """Returns rows of texts, the first of which is the head, as a table of reStructuredText."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    bar = "  ".join("=" * width for width in widths)
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([bar, lines[0], bar, *lines[1:], bar])


def to_count(line, name, text):
    """Returns a whole number from 1."""
    if not re.fullmatch("[1-9][0-9]{0,9}", text) or int(text) > MOST:
        raise RowError(f"{line}: {name} must be a whole number from 1, not '{text}'")
    return int(text)


def to_variable(line, name, text):
    """Returns the whole number that a variable of a model is, which may be 0."""
    return 0 if text == "0" else to_count(line, name, text)


def to_number(line, name, text, most):
    """Returns a number above 0."""
    value = float(text) if re.fullmatch(r"[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?", text) else math.nan
    if not 0 < value <= most:
        raise RowError(f"{line}: {name} must be a number above 0 to {most:g}, not '{text}'")
    return value


def to_settings(line, name, text):
    """Returns the settings of NAME=VALUE,..."""
    settings = {}
    for item in text.split(",") if text else []:
        key, _, value = item.partition("=")
        if not key or not value or "=" in value:
            raise RowError(f"{line}: {name}: '{item}' is not NAME=VALUE")
        if key in settings:
            raise RowError(f"{line}: {name}: {key} stands there twice")
        settings[key] = value
    return settings


def find_sequence(row, variables):
    """Returns the tokens of a sequence, or None where nothing says them."""
    if "sequence" in variables:
        return int(variables["sequence"])
    try:
        return json.loads((MODELS / f"{row['model']}.json").read_text())["let"].get("sequence")
    except (OSError, KeyError, ValueError):  # a file of one's own
        return None


def follow(published, batch, gpus, sequence):
    """Returns the seconds of an iteration that follow from a published figure, or None."""
    figure = re.match(r"([0-9][0-9,]*(?:[.][0-9]+)?) (tokens/s per GPU|tokens/s|sequences/s|images/s|ms|s)(?: |$)", published)
    if not figure:
        return None
    number, unit = float(figure[1].replace(",", "")), figure[2]
    if unit in ("ms", "s"):
        return number * (1e-3 if unit == "ms" else 1)
    if unit in ("sequences/s", "images/s"):
        return batch / number
    return sequence and batch * sequence / number / (gpus if unit.endswith("GPU") else 1)


def check_iteration(line, row):
    """Refuses a row of published-iterations*.csv whose numbers cannot be, or do not go together."""
    for name in ("group", "model", "cluster", "framework", "published"):
        if not row[name]:
            raise RowError(f"{line}: {name} is empty")
    counts = {name: to_count(line, name, row[name]) for name in ("dp", "tp", "pp", "global_batch")}
    options = to_settings(line, "options", row["options"])
    for name in OF_PLAN:
        if name in options:
            raise RowError(f"{line}: options: {name} has a column of its own")
    gpus = counts["dp"] * counts["tp"] * counts["pp"] * to_count(line, "options: cp", options.get("cp", "1"))
    step = counts["dp"] * to_count(line, "options: microBatch", options.get("microBatch", "1"))
    if counts["global_batch"] % step != 0:
        raise RowError(f"{line}: global_batch = {row['global_batch']} is not a multiple of {step} = dp x microBatch")
    variables = to_settings(line, "variables", row["variables"])
    for name, value in variables.items():
        to_variable(line, f"variables: {name}", value)
    measured = to_number(line, "measured_s", row["measured_s"], MOST_SECONDS)
    if row["first_s"]:
        to_number(line, "first_s", row["first_s"], MOST_SECONDS)
    said = re.search("([0-9][0-9,]*) GPUs", row["published"])
    if said and int(said[1].replace(",", "")) != gpus:
        raise RowError(f"{line}: dp x tp x pp x cp is {gpus}, but published says {said[0]}")
    seconds = follow(row["published"], counts["global_batch"], gpus, find_sequence(row, variables))
    if seconds and abs(measured / seconds - 1) > ROUNDING:
        raise RowError(f"{line}: measured_s = {row['measured_s']}, but {seconds:.4g} s follow from {row['published']}")


def select(path, rows, word):
    """Returns the rows with a word in them."""
    chosen = [(line, row) for line, row in rows if word in ",".join(row.values())]
    if not chosen:
        raise RowError(f"{path}: no row has '{word}' in it")
    return chosen


def run(line, command):
    """Returns what a program prints about a row."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except OSError as error:
        raise RowError(f"{command[0]}: cannot be started: {error.strerror}") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines()
        raise RowError(f"{line}: {said[-1] if said else f'the program ended with exit code {error.returncode}'}") from None


def start(main):
    """Runs a script, whose mistakes end in one line."""
    try:
        main()
    except RowError as error:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: error: {error}")
