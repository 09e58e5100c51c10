#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs that run as several processes (MPI ranks): the same bytes as with one.

PROTEUS_RUN is the command that runs a program (default: this clone's ./ns3 run --no-build);
RANKS_TEST_CASES the number of random cases (default 20) and of random experiments; RANKS_TEST_JOBS that
of random jobs (default half as many, each as one process and as two to four; if it is given, each as one
process and as one rank, two, three and four, as far as it has servers).
"""

import json
import os
import pathlib
import random
import shlex
import signal
import subprocess
import tempfile
import time
import unittest
import unittest.mock

CLONE = pathlib.Path(__file__).resolve().parents[2]
RUN = shlex.split(os.environ.get("PROTEUS_RUN", f"{CLONE}/ns3 run --no-build"))
CASES = int(os.environ.get("RANKS_TEST_CASES", "20"))
JOBS = int(os.environ.get("RANKS_TEST_JOBS", "0"))
LIMIT_S = 120

CONTROLS = ["none", "dcqcn", "dctcp", "hpcc", "powertcp", "swift", "tcp", "timely"]
# Congestion controls that read what switches tell; see doc/mpi.rst for what they need.
TELEMETRY = {"hpcc", "powertcp"}
FABRIC = "--ns3::proteus::Fabric::"
# What ends a random case for a reason that doc/mpi.rst gives.
REFUSALS = ("cannot be divided", "parts that can be divided")
# Notes of that kind.
NOTES = ("MPI ranks", "and none repeated, because")
# Quantities that say how a run was simulated, and not what came out.
NATURE = ("wall time", "ranks", "events", "simulated", "repeated", "repetition")


def start(ranks, arguments):
    """Returns the command of a program as so many ranks; 0 for none of MPI's."""
    mpi = [f"--mpi={ranks}"] if ranks else []
    command = [*RUN[:-1], *mpi, RUN[-1]] if RUN[-1] == "run" else [*RUN, *mpi]
    return [*command, *arguments]


def start_session(ranks, arguments, folder):
    """Starts a program as so many ranks, in a session of its own; see end_session()."""
    return subprocess.Popen(
        start(ranks, arguments),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(ranks, arguments, folder):
    """Returns the finished process of a program as so many ranks."""
    process = start_session(ranks, arguments, folder)
    try:
        out, error = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        end_session(process)
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, error)


def end_session(process):
    """Ends a process that has a session of its own, and all in that, whatever became of a test."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def find_descendants(process, word):
    """Returns those processes under one whose program has a word in its name."""
    found = []
    for children in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            for child in map(int, children.read_text().split()):
                if word in os.path.basename(os.readlink(f"/proc/{child}/exe")):
                    found.append(child)
                found += find_descendants(child, word)
        except OSError:  # it has ended meanwhile
            pass
    return sorted(found)


def is_running(process):
    """Returns whether a process is there, and not just waits to be forgotten."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def read_cpu_ticks(process):
    """Returns the processor time of a process, in ticks of a hundredth of a second."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def write_flows(path, rng, hosts, count, most):
    """Flows of which some wait for one that ends where they begin."""
    lines, ends = ["id,src,dst,bytes,start_ns,deps"], []
    for i in range(count):
        before = [j for j in range(len(ends)) if rng.random() < 0.02]
        source = ends[before[0]] if before else rng.randrange(hosts)
        before = [j for j in before if ends[j] == source]
        target = rng.choice([h for h in range(hosts) if h != source])
        size = int(most ** rng.random()) + rng.randrange(most // 4)
        start = rng.choice([0, 0, rng.randrange(20000) / 2, rng.randrange(10**7) / 1000])
        lines.append(f"{i},{source},{target},{size},{start},{';'.join(map(str, before))}")
        ends.append(target)
    path.write_text("\n".join(lines) + "\n")


def write_hosts(path, rng, leaves, spines, per_leaf, loss):
    """Hosts on leaves and spines, RoCE, as a text topology."""
    hosts = leaves * per_leaf
    lines = []
    for h in range(hosts):
        lines.append(f"{h} {hosts + h // per_leaf} 100Gbps {rng.choice([0.0005, 0.001])}ms {loss}")
    for leaf in range(leaves):
        for spine in range(spines):
            rate = rng.choice([100, 200])
            delay = rng.choice([0.0006, 0.001, 0.0017])
            lines.append(f"{hosts + leaf} {hosts + leaves + spine} {rate}Gbps {delay}ms {loss}")
    switches = " ".join(str(hosts + i) for i in range(leaves + spines))
    head = f"{hosts + leaves + spines} {leaves + spines} {len(lines)}"
    path.write_text("\n".join([head, switches, *lines]) + "\n")
    return hosts


def make_case(folder, number):
    """Writes a random cluster and flows; returns the arguments."""
    rng = random.Random(number)
    control = CONTROLS[number % len(CONTROLS)]
    arguments = []
    if rng.random() < 0.5:
        loss = 0 if control in TELEMETRY else rng.choice([0, 0, 0.001, 0.01])
        hosts = write_hosts(folder / "cluster.txt", rng, rng.randrange(4, 8), rng.randrange(1, 4), 4, loss)
        arguments.append("--cluster=cluster.txt")
        if control not in TELEMETRY and rng.random() < 0.3:
            arguments.append(FABRIC + "Pfc=false")
        arguments.append(FABRIC + f"SwitchBuffer={rng.choice([1000000, 4000000, 16000000])}")
    else:
        servers = rng.randrange(4, 9)
        hosts = 4 * servers
        kind = rng.choice(["single-switch", "leaf-spine", "rail-optimised", "fat-tree", "dragonfly+", "torus-2d"])
        arguments += ["--cluster=pcie-v100x4", f"--nodes={servers}", f"--fabric={kind}"]
        if kind in ("leaf-spine", "dragonfly+"):
            arguments.append("--serversPerLeaf=1")
        if kind == "rail-optimised":
            arguments.append("--serversPerGroup=1")
        # Small buffers make senders wait for credits.
        arguments.append(FABRIC + f"InfinibandBuffer={rng.choice([10000, 30000, 131072])}")
    write_flows(folder / "flows.csv", rng, hosts, rng.randrange(20, 120), 400000)
    routing = rng.choice(["Ecmp", "Ecmp", "Spray", "Adaptive", "ForwardingTable"])
    arguments += ["--flows=flows.csv", f"--congestionControl={control}", FABRIC + f"Routing={routing}"]
    if control != "tcp":
        arguments.append("--transport=" + rng.choice(["go-back-n", "selective-repeat"]))
    arguments.append("--ns3::proteus::Transport::RetransmissionTimeout=200us")
    return arguments


KINDS = ["all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce", "all-to-all", "send-recv"]


FABRICS = ["single-switch", "leaf-spine", "leaf-spine", "rail-optimised", "fat-tree", "torus-2d", "dragonfly+"]


def make_network(rng, control):
    """Returns the options of a random cluster for collectives, and its GPUs and servers."""
    servers = rng.randrange(2, 6)
    preset, gpus, count = rng.choice([("pcie-v100x4", 4, 1), ("pcie-v100x4", 4, 1), ("dgx1-v100", 8, 4)])
    roce = control not in ("auto", "none") or rng.random() < 0.5
    nics = f":nic={count}x100G-" + ("roce" if roce else "infiniband")
    kind = rng.choice(FABRICS)
    arguments = [f"--cluster={preset}{nics}", f"--nodes={servers}", f"--fabric={kind}"]
    if kind in ("leaf-spine", "dragonfly+"):
        arguments.append("--serversPerLeaf=1")
    if kind == "rail-optimised":
        arguments.append("--serversPerGroup=1")
    arguments.append(f"--ns3::proteus::Transport::CongestionControl={control}")
    arguments.append("--ns3::proteus::Transport::RetransmissionTimeout=200us")
    arguments.append(FABRIC + "Routing=" + rng.choice(["Ecmp", "Ecmp", "Spray", "Adaptive"]))
    if roce:
        arguments.append(FABRIC + f"SwitchBuffer={rng.choice([1000000, 4000000, 16000000])}")
        if control not in TELEMETRY and rng.random() < 0.3:
            arguments.append(FABRIC + "Pfc=false")
    else:
        arguments.append(FABRIC + f"InfinibandBuffer={rng.choice([10000, 30000, 131072])}")
    return arguments, gpus, servers


def make_collective(number):
    """Returns the arguments of a random collective, and its servers."""
    rng = random.Random(100000 + number)
    control = ["auto", *CONTROLS][number % (len(CONTROLS) + 1)]
    arguments, gpus, servers = make_network(rng, control)
    arguments += [f"--collective={KINDS[number % len(KINDS)]}", "--min=1", f"--max={rng.randrange(1000, 1000000)}"]
    arguments += [f"--factor={rng.choice([50, 700])}", "--launchMode=" + rng.choice(["process-per-gpu", "one-process"])]
    if rng.random() < 0.3:
        arguments.append(f"--concurrent={gpus // 2}")
    return arguments, servers


def write_graph(path, rng, devices):
    """Computation and communication, side by side and one after the other."""
    groups = [sorted(rng.sample(range(devices), rng.randrange(2, devices + 1))) for _ in range(6)]
    pairs = {tuple(rng.sample(range(devices), 2)): 0 for _ in range(6)}
    groups = [list(group) for group in {tuple(group): 0 for group in groups if len(group) > 2}]
    wide = len(groups)
    groups += [list(pair) for pair in pairs]
    batches = rng.randrange(1, 4)
    tasks, of_device = [], [[] for _ in range(devices)]
    for i in range(rng.randrange(15, 30)):
        task = {"id": i, "name": f"t{i}", "phase": "iteration"}
        if rng.random() < 0.6:
            members = [rng.randrange(devices)]
            task.update(kind="compute", device=members[0], stream="compute")
            if rng.random() < 0.3:
                task["duration_ps"] = rng.randrange(10**8)
            else:
                task.update(flops=rng.randrange(10**10), bytes=rng.randrange(10**8), data_type="fp16")
                task["thread_blocks"] = rng.choice([0, rng.randrange(1, 2000)])
        else:
            number = rng.randrange(len(groups))
            members = groups[number]
            kind = "send-recv" if number >= wide else rng.choice(KINDS[:-1])
            task.update(kind="communication", group=number, stream="communication", collective=kind)
            task.update(bytes=rng.randrange(1, 400000))
            if kind == "send-recv" and rng.random() < 0.5:
                task["parallelism"] = "pipeline"
        before = sorted({rng.choice(of_device[d]) for d in members if of_device[d] and rng.random() < 0.7})
        if before:
            task["dependencies"] = before
        for device in members:
            of_device[device].append(i)
        tasks.append(task)
    graph = {"format": "proteus-graph", "version": 1, "facts": {"name": "random"}, "devices": devices}
    graph.update(streams=["compute", "communication"], phases=[{"name": "iteration", "micro_batches": batches}])
    graph.update(groups=groups, tasks=tasks)
    path.write_text(json.dumps(graph))


def write_scenario(path, rng, servers):
    """A cable that fails and is repaired, one that gets slower or loses, or a slow GPU."""
    nic = f"n{rng.randrange(servers)}.nic0"
    begin = rng.randrange(90)
    event = rng.choice(
        [
            {"kind": "nic-down", "nic": nic},
            {"kind": "degraded", "nic": nic, "rate_share": rng.choice([0.1, 0.5])},
            {"kind": "degraded", "nic": nic, "loss_probability": rng.choice([1e-4, 1e-2])},
            {"kind": "slow-gpu", "gpus": [f"n{rng.randrange(servers)}.gpu1"], "factor": 1.2},
        ]
    )
    event.update(at=f"{begin}%", until=f"{rng.randrange(begin + 1, 101)}%")
    path.write_text(json.dumps({"format": "proteus-scenario", "version": 1, "name": "random", "events": [event]}))


def make_job(folder, number):
    """Writes a random graph, and with some a scenario; returns the arguments, and the servers."""
    rng = random.Random(200000 + number)
    control = ["auto", *CONTROLS][number % (len(CONTROLS) + 1)]
    arguments, gpus, servers = make_network(rng, control)
    write_graph(folder / "graph.json", rng, gpus * servers)
    arguments += ["--graph=graph.json", "--gpuSharing=" + rng.choice(["on", "on", "off"])]
    if control not in TELEMETRY and rng.random() < 0.3:
        write_scenario(folder / "scenario.json", rng, servers)
        arguments.append("--scenario=scenario.json")
    window = "--joinWindow=" + rng.choice(["0us", "100ns", "5us", "50us", "3ms"])
    if rng.random() < 0.3:  # less than the news of a launch take
        arguments.append("--ns3::proteus::PacketNetwork::LaunchOverhead=" + rng.choice(["0ns", "1ps", "100ns"]))
    if rng.random() < 0.5:  # windows between servers, too
        window = "--ns3::proteus::PacketNetwork::JoinWindowShare=" + rng.choice(["0.01", "0.1", "1"])
    arguments.append(window)
    return arguments, servers


def read_results(folder):
    """Returns what a run wrote, without what differs by its nature: wall time and ranks."""
    document = json.loads((folder / "all.json").read_text())
    text = json.dumps(document["tables"] if "tables" in document else document, indent=1)
    rows = []

    def visit(value):
        if isinstance(value, list):
            if value and value[0] in NATURE:
                return
            for item in value:
                visit(item)
        elif isinstance(value, dict):
            texts = [item for item in value.values() if isinstance(item, str)]
            if value.get("quantity") in NATURE or any(word in text for text in texts for word in NOTES):
                return
            for key, item in value.items():
                rows.append(str(key))
                visit(item)
        else:
            rows.append(repr(value))

    visit(json.loads(text))
    return (folder / "flows.out").read_text(), rows


def keep_results(text):
    """Returns the lines that a run of communication printed, without what differs by its nature."""
    drop = ("MPI ranks", "  wall time  ", "  simulated  ", "  repeated  ", "and none repeated, because")
    lines = [line for line in text.splitlines() if not any(part in line for part in drop)]
    return [line for line in lines if line != "#"]


class Comparison(unittest.TestCase):
    def check_same(self, results, expected):
        """What is printed, and both files."""
        self.assertEqual(results[0], expected[0])
        self.assertEqual(results[1], expected[1])
        self.assertEqual(results[2], expected[2])


class SameBytes(Comparison):
    def test_random_cases(self):
        for number in range(CASES):
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                arguments = ["proteus-flows", *make_case(folder, number), "--csv=flows.out", "--json=all.json", "--quiet"]
                expected = None
                for ranks in (0, 1, 2, 3, 4):
                    with self.subTest(case=number, ranks=ranks, arguments=" ".join(arguments)):
                        done = run(ranks, arguments, folder)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        text = [line for line in done.stdout.splitlines() if not line.startswith(("run ", "ranks "))]
                        results = (text, *read_results(folder))
                        if ranks > 1:
                            self.assertIn(f"ranks            {ranks}, ", done.stdout)
                        if expected is None:
                            expected = results
                        self.check_same(results, expected)


class SameCommunication(Comparison):
    def check(self, arguments, servers, folder, number, ranks_of_all=()):
        """As one process and as several, each with a server at least."""
        expected = None
        for ranks in (0, *ranks_of_all) if ranks_of_all else (0, min(servers, 2 + number % 3)):
            with self.subTest(ranks=ranks, arguments=" ".join(arguments)):
                done = run(ranks, arguments, folder)
                if any(words in done.stderr for words in REFUSALS):
                    print(f"job or collective {number} as {ranks} ranks: {done.stderr.strip()}", flush=True)
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                results = (keep_results(done.stdout), *read_results(folder))
                if ranks > 1:
                    self.assertIn(f"{ranks} MPI ranks, ", done.stdout)
                if expected is None:
                    expected = results
                self.check_same(results, expected)

    def test_random_collectives(self):
        for number in range(CASES // 2):
            with tempfile.TemporaryDirectory() as name:
                arguments, servers = make_collective(number)
                arguments += ["--quiet", "--csv=flows.out", "--json=all.json"]
                self.check(["proteus-collective", *arguments], servers, pathlib.Path(name), number)

    def test_random_jobs(self):
        for number in range(JOBS or CASES // 2):
            with tempfile.TemporaryDirectory() as name:
                arguments, servers = make_job(pathlib.Path(name), number)
                arguments += ["--quiet", "--csv=flows.out", "--json=all.json"]
                ranks = range(1, min(servers, 4) + 1) if JOBS else ()
                self.check(["proteus-run", *arguments], servers, pathlib.Path(name), number, ranks)


class SameExperiments(unittest.TestCase):
    def test_random_experiments(self):
        """Those of the suite proteus-flows-property, with failures and losses."""
        for seed in range(5000, 5000 + CASES):
            if seed == 5069:  # windows of a nanosecond, for milliseconds
                continue
            with tempfile.TemporaryDirectory() as folder:
                expected = run(0, ["proteus-ranks-check", str(seed)], folder)
                self.assertEqual(expected.returncode, 0, expected.stderr)
                ranks = 2 + seed % 3
                with self.subTest(seed=seed, ranks=ranks):
                    done = run(ranks, ["proteus-ranks-check", str(seed)], folder)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    if "too few hosts" not in done.stdout:
                        self.assertEqual(done.stdout, expected.stdout)


class Errors(unittest.TestCase):
    def setUp(self):
        self.name = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.name.name)

    def tearDown(self):
        self.name.cleanup()

    def check(self, ranks, arguments, words):
        """The program ends with exit code 1, one line, and no file that looks whole."""
        done = run(ranks, arguments, self.folder)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        lines = [line for line in done.stderr.splitlines() if "error: " in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn(words, lines[0])
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "flows.out").exists() and (self.folder / "flows.out").stat().st_size > 0)

    def flows(self, *lines):
        path = self.folder / "flows.csv"
        path.write_text("\n".join(["id,src,dst,bytes,start_ns,deps", *lines]) + "\n")
        write_hosts(self.folder / "cluster.txt", random.Random(1), 4, 2, 4, 0)
        return ["proteus-flows", "--cluster=cluster.txt", "--flows=flows.csv", "--csv=flows.out", "--quiet"]

    def test_number_of_ranks(self):
        self.check("two", ["proteus-flows"], "--mpi=N")
        self.check("-1", ["proteus-flows"], "--mpi=N")
        self.check(2, ["--mpi=3", "proteus-flows"], "--mpi is given twice")

    def test_too_many_ranks(self):
        self.check(17, self.flows("0,0,1,1000,0,"), "cannot be divided among 17 ranks")

    def test_mistake_of_the_user_is_said_once(self):
        arguments = self.flows("0,15,0,1000,0,")
        arguments[1] = "--cluster=nothing-here"
        self.check(3, arguments, "nothing-here")

    def test_other_programs(self):
        self.check(2, ["proteus-fabrics"], "one process only")
        self.check(2, ["proteus-bench", "--quick", "--only=incast"], "one process only")

    def test_ranks_that_are_started_unlike(self):
        arguments = self.flows("0,0,15,1000,0,")
        mpi = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
        for other, words in (
            ([*arguments, "--stream=2"], "rank 1 has --stream=2 where rank 0 has nothing"),
            (["proteus-flows", "--help"], "rank 1 has --help where rank 0 has --cluster=cluster.txt"),
            (["proteus-gpt3", *arguments[1:]], "rank 1 has proteus-gpt3 where rank 0 has proteus-flows"),
        ):
            done = subprocess.run(
                [*mpi, "-np", "1", *start(0, arguments), ":", "-np", "1", *start(0, other)],
                cwd=self.folder,
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_ranks_that_are_not_there(self):
        with unittest.mock.patch.dict(os.environ, {"OMPI_COMM_WORLD_SIZE": "2"}):
            self.check(0, self.flows("0,0,15,1000,0,"), "that of 2 processes, and MPI finds 1")

    def test_simulators_of_one_process(self):
        arguments = self.flows("0,0,15,1000,0,")
        option = "--SimulatorImplementationType=ns3::"
        self.check(2, [*arguments, option + "DefaultSimulatorImpl"], "knows of one process")
        self.check(0, [*arguments, option + "RealtimeSimulatorImpl"], "waits for the clock")

    def test_what_needs_one_process(self):
        job = ["proteus-gpt3", "--model=125M", "--cluster=pcie-v100x4", "--quiet", "--gpuSharing=off", "--csv=flows.out"]
        message = {"from": "n0.gpu0", "to": "n1.gpu0", "bytes": 1000, "start": "1us"}
        scenario = {"format": "proteus-scenario", "version": 1, "name": "one message"}
        scenario["traffic"] = [{"kind": "list", "messages": [message]}]
        (self.folder / "traffic.json").write_text(json.dumps(scenario))
        sharp = ["proteus-collective", "--cluster=dgx-a100", "--nodes=2", "--quiet", "--csv=flows.out"]
        for option, words in {
            "--executor=both": "--executor=both needs one process",
            "--communicationSchedule=priority": "--communicationSchedule needs one process",
            "--linkSeries=links.csv": "--linkSeries needs one process",
            "--scenario=traffic.json": "background traffic of a scenario needs one process",
            "--algorithm=sharp": "adds up in the switches between servers",
        }.items():
            with self.subTest(option=option):
                done = run(2, [*(sharp if "sharp" in option else job), option], self.folder)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                lines = [line for line in done.stderr.splitlines() if "error: " in line]
                self.assertEqual(len(lines), 1, done.stderr)
                self.assertIn(words, lines[0])
                self.assertFalse((self.folder / "flows.out").exists())

    def test_rank_of_a_collective_that_fails(self):
        self.flows("0,15,0,1,0,")
        path = self.folder / "cluster.txt"
        lines = path.read_text().splitlines()
        index = next(i for i, line in enumerate(lines) if line.startswith("15 "))
        lines[index] = lines[index].rsplit(" ", 1)[0] + " 0.999999"
        path.write_text("\n".join(lines) + "\n")
        arguments = ["proteus-collective", "--cluster=cluster.txt", "--min=1M", "--max=1M", "--csv=flows.out", "--quiet"]
        arguments += ["--collective=send-recv", "--ns3::proteus::Transport::RetransmissionTimeout=20us"]
        done = run(2, arguments, self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("gives up", done.stderr)
        self.assertIn("MPI rank ", done.stderr)
        self.assertFalse((self.folder / "flows.out").exists())

    def test_dependency_between_ranks(self):
        self.check(2, self.flows("a,0,1,1000,0,", "b,15,2,1000,0,a"), "'b': it starts at MPI rank 1")

    def test_rank_that_fails(self):
        arguments = self.flows("0,15,0,1000000,0,")
        path = self.folder / "cluster.txt"
        lines = path.read_text().splitlines()
        # The last host loses nearly everything: its sender, at the last rank, gives up.
        index = next(i for i, line in enumerate(lines) if line.startswith("15 "))
        lines[index] = lines[index].rsplit(" ", 1)[0] + " 0.999999"
        path.write_text("\n".join(lines) + "\n")
        arguments.append("--ns3::proteus::Transport::RetransmissionTimeout=20us")
        self.check(2, arguments, "MPI rank 1: transport: queue pair 0")

    def test_rank_that_is_killed(self):
        """As by the kernel that runs out of memory: all end, and say why."""
        arguments = [*self.flows("0,15,0,1000000000000,0,", "1,0,15,1000000000000,0,"), "--json=all.json"]
        launcher = start_session(3, arguments, self.folder)
        self.addCleanup(end_session, launcher)
        ranks = []
        for _ in range(600):
            time.sleep(0.1)
            ranks = find_descendants(launcher.pid, "proteus-flows")
            if len(ranks) == 3 and min(map(read_cpu_ticks, ranks)) > 50:
                break
        self.assertEqual(len(ranks), 3)
        os.kill(ranks[1], signal.SIGKILL)
        killed = time.monotonic()
        out, error = launcher.communicate(timeout=60)
        self.assertNotEqual(launcher.returncode, 0)
        self.assertLess(time.monotonic() - killed, 30)
        self.assertIn("was ended by signal 9 (KILL)", error)
        self.assertEqual(out, "")
        for name in ("flows.out", "all.json"):
            path = self.folder / name
            self.assertFalse(path.exists() and path.stat().st_size > 0)
        while time.monotonic() - killed < 30 and any(map(is_running, ranks)):
            time.sleep(0.1)
        self.assertFalse(any(map(is_running, ranks)))

    def test_full_disk(self):
        arguments = self.flows("0,15,0,1000,0,")
        arguments[3] = "--csv=/dev/full"
        done = run(2, arguments, self.folder)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
        self.assertIn("/dev/full", done.stderr)

    def test_file_that_cannot_be_written(self):
        arguments = self.flows("0,15,0,1000,0,")
        arguments[3] = "--csv=/nowhere/flows.out"
        self.check(2, arguments, "/nowhere/flows.out")


if __name__ == "__main__":
    unittest.main(verbosity=2)
