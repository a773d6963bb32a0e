#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rota beside other runtimes on whole models: one core, one thread, fresh processes in alternating order.

usage: cpu_models.py [FOLDER ...] [--rota PROGRAM] [--corpus PATH] [--models GLOB,...] [--peers ort,openvino] [--rounds N]
                     [--seconds S] [--limit X] [--json FILE] [--write-docs]

FOLDER holds model.onnx and inputs/NAME.npy. --corpus is a folder with models.tar.xz and fill.py, or such an archive with fill.py
beside it: graphs without weights, which fill.py completes; --models chooses among them. With neither, the demo's network is measured.

For each model: the engine is built for exactly the shapes of the inputs; its answer is compared with the first peer's; then in each
round every runtime loads the model in a process of its own, warms up and runs for S seconds, and the order turns round from one round
to the next. The ratio Rota / peer is taken round by round: shown are the geometric mean and its 95% interval (Student's t on
logarithms). Exit code 1 if a model fails, answers otherwise, or takes more than X times the first peer's time (--limit).
--write-docs puts the table into README.md and docs/performance.md. docs/performance.md describes the method for readers.
"""
import argparse
import fnmatch
import json
import math
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from peer import file_name  # noqa: E402

PEER_NAMES = {"ort": "ONNX Runtime", "openvino": "OpenVINO"}
AGREEMENT = {np.dtype(np.float16): 5e-3}  # relative L2; 1e-4 for other types
STUDENT_T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
             2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045]  # 97.5%, 1 to 29 degrees


class Failure(Exception):
    """One model cannot be measured; the text says why."""


def call(command, timeout=1800):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise Failure(f"{Path(str(command[0])).name} {command[1]}: exit code {done.returncode}: {lines[-1] if lines else 'no message'}")
    return done.stdout


def interval(ratios):
    """Geometric mean and 95% interval of ratios; with one ratio the interval is unbounded."""
    logs = [math.log(r) for r in ratios]
    mean = statistics.fmean(logs)
    if len(logs) == 1:
        return math.exp(mean), 0.0, math.inf
    t = STUDENT_T[min(len(logs) - 1, len(STUDENT_T)) - 1]
    half = t * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def order_of_round(sides, number):
    """The order turns round every round, so that no side always runs first, or always after the same one."""
    return list(sides) if number % 2 == 0 else list(reversed(sides))


def check_agreement(value, reference, name):
    """Relative L2 of an output, or a Failure that says how it differs."""
    if value.shape != reference.shape or value.dtype != reference.dtype:
        raise Failure(f"output '{name}' is {value.dtype}{list(value.shape)}, expected {reference.dtype}{list(reference.shape)}")
    if value.dtype.kind != "f":
        differing = int((value != reference).sum())
        if differing > value.size // 1000:
            raise Failure(f"output '{name}': {differing} of {value.size} values differ")
        return 0.0
    a, b = value.astype(np.float64), reference.astype(np.float64)
    difference = float(np.linalg.norm(a - b) / (np.linalg.norm(b) or 1))
    limit = AGREEMENT.get(value.dtype, 1e-4)
    if not difference <= limit:
        raise Failure(f"output '{name}': relative L2 difference {difference:.1e}, limit {limit:.0e}")
    return difference


class Model:
    """A folder with model.onnx and inputs/, and what is measured on it."""

    def __init__(self, name, folder):
        self.name, self.folder, self.work = name, Path(folder), Path(folder) / "measured"
        self.work.mkdir(exist_ok=True)

    def shapes(self):
        import onnx
        graph = onnx.load(str(self.folder / "model.onnx"), load_external_data=False).graph
        weights = {tensor.name for tensor in graph.initializer}
        for value in graph.input:
            if value.name not in weights:
                dims = np.load(self.folder / "inputs" / file_name(value.name)).shape
                yield "--shape", f"{value.name}={'x'.join(map(str, dims)) or 'scalar'}"

    def build(self, rota):
        command = [rota, "build", self.folder / "model.onnx", "-o", self.work / "model.rota", "--threads", "1", "--json"]
        return json.loads(call([*command, *(word for pair in self.shapes() for word in pair)]))["build_s"]

    def command(self, side, rota, seconds, outputs=None):
        common = ["--inputs", self.folder / "inputs", "--threads", 1, "--duration", seconds]
        if side == "rota":
            return [rota, "bench", self.work / "model.rota", *common, "--json"]
        return [sys.executable, ROOT / "bench/peer.py", side, self.folder / "model.onnx", *common, *(["--outputs", outputs] if outputs else [])]

    def compare(self, rota, peer):
        """The largest relative L2 difference to the peer's answer."""
        call([rota, "run", self.work / "model.rota", "--inputs", self.folder / "inputs", "--outputs", self.work / "rota", "--threads", 1])
        call(self.command(peer, rota, 0, self.work / peer))
        expected = sorted((self.work / peer).glob("*.npy"))
        return max((check_agreement(np.load(self.work / "rota" / f.name), np.load(f), f.stem) for f in expected), default=0.0)


def measure(model, arguments):
    """A row of the table."""
    row = {"model": model.name, "build_s": model.build(arguments.rota), "difference": model.compare(arguments.rota, arguments.peers[0])}
    sides = ["rota", *arguments.peers]
    samples = {side: [] for side in sides}
    for number in range(arguments.rounds):
        for side in order_of_round(sides, number):
            samples[side].append(json.loads(call(model.command(side, arguments.rota, arguments.seconds))))
    for side, measured in samples.items():
        row[side] = {key: statistics.median(get(m) for m in measured) for key, get in (
            ("median_ms", lambda m: m["latency_ms"]["median"]), ("load_ms", lambda m: m["load_ms"]), ("first_run_ms", lambda m: m["first_run_ms"]))}
    for peer in arguments.peers:
        row[peer]["version"] = samples[peer][0]["version"]
        row[peer]["ratio"] = interval([ours["latency_ms"]["median"] / theirs["latency_ms"]["median"]
                                       for ours, theirs in zip(samples["rota"], samples[peer])])
    return row


def table(rows, peers):
    """Markdown."""
    heads = ["model", "Rota, ms"]
    for peer in peers:
        heads += [f"{PEER_NAMES[peer]}, ms", "ratio [95%]", f"load, ms: Rota, {PEER_NAMES[peer]}", f"first run, ms: Rota, {PEER_NAMES[peer]}"]
    lines = ["| " + " | ".join([*heads, "build, s", "difference"]) + " |", "| --- |" + " ---: |" * (len(heads) + 1)]
    for row in rows:
        if "error" in row:
            lines.append(f"| {row['model']} | {row['error']} |" + " |" * len(heads))
            continue
        cells = [row["model"], f"{row['rota']['median_ms']:.2f}"]
        for peer in peers:
            ratio = "{:.2f} [{:.2f}, {:.2f}]".format(*row[peer]["ratio"])
            cells += [f"{row[peer]['median_ms']:.2f}", ratio, *(f"{row['rota'][key]:.1f}, {row[peer][key]:.1f}" for key in ("load_ms", "first_run_ms"))]
        lines.append("| " + " | ".join([*cells, f"{row['build_s']:.2f}", f"{row['difference']:.0e}"]) + " |")
    return "\n".join(lines)


def machine():
    name = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            break
    return name


def caption(rows, arguments):
    versions = next((", ".join(f"{PEER_NAMES[p]} {row[p]['version']}" for p in arguments.peers) for row in rows if "error" not in row), "nothing measured")
    return (f"{machine()}, one core, one thread; {versions}; {arguments.rounds} rounds of {arguments.seconds:g} s. Ratio: time of Rota by "
            "time of the other. Difference: largest relative L2 to the first of them.")


def write_docs(text, files):
    begin, end = "<!-- results -->", "<!-- /results -->"
    for path in files:
        page = path.read_text()
        if begin not in page or end not in page:
            raise Failure(f"{path} has no {begin} … {end}")
        path.write_text(page[:page.index(begin) + len(begin)] + "\n\n" + text + "\n\n" + page[page.index(end):])


def corpus_models(corpus, patterns, folder):
    """Fills the chosen graphs of a corpus one by one; each is removed before the next is made."""
    archive = corpus / "models.tar.xz" if corpus.is_dir() else corpus
    graphs = folder / "graphs"
    with tarfile.open(archive) as tar:
        tar.extractall(graphs, filter="data")
    chosen = [path for path in sorted(graphs.rglob("*.onnx")) if any(fnmatch.fnmatch(path.stem, p) for p in patterns)]
    if not chosen:
        raise Failure(f"{archive} has no model called {', '.join(patterns)}")
    for path in chosen:
        filled = folder / "filled" / path.stem
        call([sys.executable, archive.parent / "fill.py", path, filled])
        yield Model(path.stem, filled)
        shutil.rmtree(filled)


def demo_model(folder):
    """The demo's trained network, reading a drawn phrase."""
    sys.path.insert(0, str(ROOT / "examples/demo"))
    import recogniser
    target = folder / "demo"
    (target / "inputs").mkdir(parents=True)
    shutil.copy(recogniser.fetch(ROOT / ".cache/demo"), target / "model.onnx")
    np.save(target / "inputs/x.npy", recogniser.network_input(recogniser.draw(recogniser.random_phrase(random.Random(1)))))
    return Model("PP-OCRv4 recogniser (make demo)", target)


def models(arguments, folder):
    for path in arguments.folders:
        copy = folder / "given" / path.resolve().name
        shutil.copytree(path, copy)
        yield Model(path.resolve().name, copy)
    if not arguments.folders:
        yield demo_model(folder)
    if arguments.corpus:
        yield from corpus_models(arguments.corpus, arguments.models.split(","), folder)


def parse():
    parser = argparse.ArgumentParser(description="Rota beside other runtimes: one core, one thread, fresh processes.")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="model.onnx and inputs/NAME.npy")
    parser.add_argument("--rota", type=Path, default=ROOT / "build/release/bin/rota", help="the program")
    parser.add_argument("--corpus", type=Path, help="folder with models.tar.xz and fill.py, or the archive")
    parser.add_argument("--models", default="tv_resnet50,hf_bert_base", help="which of the corpus: names or patterns, by commas")
    parser.add_argument("--peers", type=lambda text: text.split(","), default=["ort"], help="ort, openvino")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--limit", type=float, default=math.inf, help="largest allowed time, in times of the first peer's")
    parser.add_argument("--json", type=Path, help="write the rows into this file")
    parser.add_argument("--write-docs", action="store_true", help="put the table into README.md and docs/performance.md")
    arguments = parser.parse_args()
    unknown = [peer for peer in arguments.peers if peer not in PEER_NAMES]
    if unknown:
        parser.error(f"no such peer: {', '.join(unknown)}")
    if arguments.rounds < 1:
        parser.error("--rounds is at least 1")
    arguments.rota = arguments.rota.resolve()
    return arguments


def main():
    arguments = parse()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # everything started from here inherits it
    rows, good = [], True
    with tempfile.TemporaryDirectory(prefix="rota-bench-") as folder:
        for model in models(arguments, Path(folder)):
            try:
                row = measure(model, arguments)
                ratio = row[arguments.peers[0]]["ratio"]
                good = good and ratio[0] <= arguments.limit
                print(f"{model.name}: {row['rota']['median_ms']:.2f} ms, {ratio[0]:.2f} times {PEER_NAMES[arguments.peers[0]]}", file=sys.stderr, flush=True)
            except (Failure, OSError, subprocess.TimeoutExpired) as error:
                row, good = {"model": model.name, "error": str(error)}, False
                print(f"{model.name}: {error}", file=sys.stderr, flush=True)
            rows.append(row)
    text = table(rows, arguments.peers) + "\n\n" + caption(rows, arguments)
    print(text)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")
    if arguments.write_docs:
        write_docs(text, [ROOT / "README.md", ROOT / "docs/performance.md"])
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, RuntimeError) as error:
        print(f"cpu_models: {error}", file=sys.stderr)
        sys.exit(1)
