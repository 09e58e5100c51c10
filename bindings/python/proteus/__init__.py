# SPDX-License-Identifier: GPL-2.0-only
"""The programs of proteus from Python, with their tables as pandas DataFrames.

    import sys; sys.path.insert(0, "CLONE/bindings/python")
    import proteus
    job = proteus.run(model="gpt3-6.7b", strategy="tp=8,dp=2", cluster="dgx-a100", executor="flow")
    job.iteration_s["flow"], job.table("collectives")

Every function starts a program of the clone that this file lies in, as ./ns3 run
does, and reads the JSON that it writes: a number here is a number there. Keyword
arguments are the options of the program (`global_batch=16` and `globalBatch=16`
are --globalBatch=16; None is not given); `attributes` sets attributes of ns-3 by their full names.
What a program warns of is a warning here (module `warnings`).
"""

import collections.abc
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import warnings

import pandas

__all__ = ["Error", "Result", "collective", "compile", "fabrics", "flows", "run", "schedule", "search"]

CLONE = pathlib.Path(__file__).resolve().parents[3]


class Error(RuntimeError):
    """A program refused its options or failed; the message is the program's."""


class Result:
    """What a program has said.

    Attributes:
        command: as one would type it
        text: what it printed
        summary: the most important results, as a dict; empty where a program has none
    """

    def __init__(self, command, text, tables, summary):
        self.command = command
        self.text = text
        self.summary = summary
        self._tables = tables

    def __repr__(self):
        return f"<proteus.Result of '{self.command}': tables {', '.join(self._tables)}>"

    @property
    def tables(self):
        """Names of the tables, with a sentence on each."""
        return {name: table["description"] for name, table in self._tables.items()}

    def table(self, name):
        """A table as a DataFrame; `units` and `meanings` of its columns are in its attrs."""
        if name not in self._tables:
            raise KeyError(f"no table '{name}'; there are {', '.join(self._tables)}")
        table = self._tables[name]
        columns = table["columns"]
        frame = pandas.DataFrame(table["rows"], columns=[column["name"] for column in columns])
        frame.attrs["units"] = {column["name"]: column["unit"] for column in columns}
        frame.attrs["meanings"] = {column["name"]: column["description"] for column in columns}
        return frame

    @property
    def iteration_s(self):
        """Time of an iteration in seconds, by executor."""
        if "iteration_s" in self.summary:
            frame = self.table("summary")
            return {frame["executor"].iloc[0]: self.summary["iteration_s"]}
        return {
            executor: part["iteration_s"]
            for executor, part in self.summary.items()
            if isinstance(part, dict) and "iteration_s" in part
        }


def _text(value, option=""):
    """A value of an option as one types it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict) and option == "strategy":
        return json.dumps(value)
    if isinstance(value, dict):  # settings, such as those of --variables and --nccl
        return ",".join(f"{name}={_text(part)}" for name, part in value.items())
    if isinstance(value, bytes):
        return os.fsdecode(value)
    if isinstance(value, collections.abc.Iterable) and not isinstance(value, str):
        return ",".join(_text(item) for item in value)
    return str(value)


def _words(program, options, attributes):
    given = {}
    for name, value in options.items():
        if value is None:
            continue
        option = re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)
        if option in given:
            raise Error(f"{program}: {option} is given twice, with _ and without")
        given[option] = value
    if not isinstance(attributes or {}, collections.abc.Mapping):
        raise Error(f"{program}: attributes must be a dict of full names and values, not {attributes!r}")
    words = [program] + [f"--{name}={_text(value, name)}" for name, value in given.items()]
    return words + [f"--{name}={_text(value)}" for name, value in (attributes or {}).items()]


def _output(program, options, name, default):
    """The file that a result is read from: what an option names, or else the default."""
    file = options.get(name) or default
    if not isinstance(file, (str, bytes, os.PathLike)):
        raise Error(f"{program}: {name}={file!r} is no name of a file")
    return file


def _read(file, text, load=json.load):
    """What a program has written, unless it was asked for something else, such as help."""
    if not os.path.exists(file):
        raise Error("it has run nothing; it says:\n" + text.strip())
    with open(file, encoding="utf-8", errors="surrogateescape") as stream:
        return load(stream)


def _start(words):
    """Runs a program; returns what it printed."""
    run = os.environ.get("PROTEUS_RUN", f"{shlex.quote(str(CLONE / 'ns3'))} run")
    try:
        runner = shlex.split(run)
        if not runner:
            raise ValueError("it is empty")
        # Names of files are bytes to a system, of which some are no text.
        done = subprocess.run(
            runner + words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )
    except OSError as error:
        raise Error(f"{words[0]}: {run}, which runs it, does not start: {error}") from error
    except ValueError as error:  # also of a word that no command line can have
        raise Error(f"{words[0]}: {shlex.join([run, *words[1:]])!r} is no command: {error}") from error
    if done.returncode < 0:
        name = signal.strsignal(-done.returncode) or "unknown"
        last = done.stderr.strip()
        raise Error(
            f"{words[0]} was ended by signal {-done.returncode} ({name})" + (f": {last}" if last else "")
        )
    if done.returncode != 0:
        said = f"{words[0]} ended with exit code {done.returncode}"
        raise Error(done.stderr.strip() or "\n".join([said, done.stdout.strip()]).strip())
    for line in done.stderr.splitlines():
        if line.startswith("warning: "):
            warnings.warn(f"{words[0]}: {line[len('warning: '):]}", stacklevel=_depth_of_caller())
    return done.stdout


def _depth_of_caller():
    """How far up the stack the call from outside this file is, as warnings.warn() counts."""
    depth, frame = 1, sys._getframe(1)  # pylint: disable=protected-access
    while frame.f_back and frame.f_code.co_filename == __file__:
        depth, frame = depth + 1, frame.f_back
    return depth


def _run(program, options, attributes=None, outputs=("json",)):
    """Runs a program; `outputs` are the options that name files to read its results from."""
    with tempfile.TemporaryDirectory(prefix="proteus.") as folder:
        files = {
            output: _output(program, options, output, os.path.join(folder, output + ".json"))
            for output in outputs
        }
        words = _words(program, {"quiet": True, **options, **files}, attributes)
        text = _start(words)
        read = {output: _read(file, text) for output, file in files.items()}
        # Files to read results from are no part of what repeats the run.
        words = [word for word in words if word[2:].split("=")[0] not in set(files) - set(options)]
    command = "./ns3 run " + shlex.quote(shlex.join(words))
    return Result(command, text, read["json"]["tables"], read.get("summary", {}))


def run(model=None, cluster=None, strategy=None, executor=None, attributes=None, **options):
    """Runs an iteration: proteus-run with a model and a strategy, or with trace= or graph=.

    Args:
        model: name in workloads/models/, or a file
        cluster: server preset, or a file
        strategy: short form ("tp=8,dp=2"), a dict as in a strategy file, or a file
        executor: one or several, e.g. "packet", "packet,flow" or a list
        attributes: attributes of ns-3, e.g. {"ns3::proteus::Fabric::Routing": "Adaptive"}
        options: all others of proteus-run, e.g. config="summary.json", whose options count where
            none is given here, nodes=4, fabric="leaf-spine", variables={"layers": 4}
    """
    options = {"model": model, "strategy": strategy, "cluster": cluster, "executor": executor, **options}
    return _run("proteus-run", options, attributes, ("json", "summary"))


def collective(kind=None, cluster=None, attributes=None, **options):
    """Times a collective at many sizes, as nccl-tests does: proteus-collective."""
    return _run("proteus-collective", {"collective": kind, "cluster": cluster, **options}, attributes)


def compile(model, strategy, **options):  # noqa: A001, the program has that name
    """Compiles a model and a strategy, and says what is communicated and stored: proteus-compile."""
    return _run("proteus-compile", {"model": model, "strategy": strategy, "quiet": None, **options})


def fabrics(model, strategy, cluster=None, attributes=None, **options):
    """Compares networks between servers for a job: proteus-fabrics, as its --csv writes it.

    Several networks are a list: fabrics=["leaf-spine", "fat-tree"].
    """
    if isinstance(options.get("fabrics"), (list, tuple)):
        options["fabrics"] = ";".join(options["fabrics"])
    options = {"model": model, "strategy": strategy, "cluster": cluster, **options}
    return _table("proteus-fabrics", options, attributes)


def flows(cluster, flows, attributes=None, **options):
    """Plays a list of flows on a cluster, packet by packet: proteus-flows."""
    return _run("proteus-flows", {"cluster": cluster, "flows": flows, **options}, attributes)


def search(model, cluster=None, attributes=None, **options):
    """Searches for strategies: proteus-search. The table is what its --csv writes."""
    return _table("proteus-search", {"model": model, "cluster": cluster, **options}, attributes)


def schedule(model, cluster=None, attributes=None, **options):
    """Compares policies of communication scheduling: proteus-schedule, as its --csv writes it."""
    return _table("proteus-schedule", {"model": model, "cluster": cluster, **options}, attributes)


def _table(program, options, attributes):
    """Runs a program with --csv, and returns that as a DataFrame."""
    with tempfile.TemporaryDirectory(prefix="proteus.") as folder:
        file = _output(program, options, "csv", os.path.join(folder, "table.csv"))
        text = _start(_words(program, {"quiet": True, **options, "csv": file}, attributes))
        return _read(file, text, pandas.read_csv)
