#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/dynamic-shapes.md: allocations inside `run`, memory growth and the first call at a new shape, for a folder of models.

usage: shape_runs.py FOLDER [--only GLOB] [--rota FILE] [--program FILE] [--static]

FOLDER holds NAME/model.onnx with NAME/inputs and NAME/inputs2 (NAME.npy of each input), as a check of the corpus leaves them. Each model is
built with a profile that covers both sets. --static also builds one with the dims of the first set and compares the times.
"""
import argparse
import fnmatch
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def shapes_of(folder):
    return {f.stem: np.load(f, mmap_mode="r").shape for f in folder.glob("*.npy")}


def text(dims):
    return "x".join(map(str, dims)) or "scalar"


def ranges_of(model, sets):
    import onnx

    graph = onnx.load(model, load_external_data=False).graph
    weights = {t.name for t in graph.initializer}
    options = []
    for value in graph.input:
        if value.name in weights:
            continue
        shapes = [s[value.name.replace("/", "_")] for s in sets]
        low, high = [min(d) for d in zip(*shapes)], [max(d) for d in zip(*shapes)]
        options += ["--shape", f"{value.name}={text(low)}"] if low == high else ["--profile", f"{value.name}={text(low)}:{text(shapes[0])}:{text(high)}"]
    return options


def measure(arguments, model, folders, target):
    options = ranges_of(model, [shapes_of(f) for f in folders])
    subprocess.run([arguments.rota, "build", model, "-o", target, "--level", "0", *options], check=True, capture_output=True)
    done = subprocess.run([arguments.program, target, *folders, "--changes", "4"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="*")
    parser.add_argument("--rota", default=ROOT / "build/release/bin/rota")
    parser.add_argument("--program", default=ROOT / "build/release/tests/rota_shape_runs")
    parser.add_argument("--static", action="store_true")
    arguments = parser.parse_args()
    print("| model | shapes | prepared: own | library | any shape: own | library | made ready | growth bytes | difference | first call ms | then ms | prepared ms |"
          + (" static ms |" if arguments.static else ""))
    print("| --- |" + " ---: |" * (12 if arguments.static else 11))
    failed = 0
    for model in sorted(arguments.folder.glob("*/model.onnx")):
        name = model.parent.name
        if not fnmatch.fnmatch(name, arguments.only):
            continue
        folders = [f for f in (model.parent / "inputs", model.parent / "inputs2") if f.is_dir()]
        with tempfile.TemporaryDirectory() as scratch:
            try:
                m = measure(arguments, model, folders, Path(scratch) / "model.rota")
                row = [m["prepared"]["own"], m["prepared"]["library"], m["any_shape"]["own"], m["any_shape"]["library"], m["any_shape"]["prepares"],
                       m["any_shape"]["growth_bytes"], f'{m["difference"]:.0e}', f'{m["any_shape"]["first_call_ms"]:.2f}', f'{m["any_shape"]["steady_ms"]:.2f}', f'{m["prepared"]["steady_ms"]:.2f}']
                if arguments.static:
                    row.append(f'{measure(arguments, model, folders[:1], Path(scratch) / "static.rota")["prepared"]["steady_ms"]:.2f}')
                print(f"| {name} | {m['sets']} | " + " | ".join(map(str, row)) + " |", flush=True)
            except (RuntimeError, subprocess.CalledProcessError) as error:
                failed += 1
                print(f"{name}: {error}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
