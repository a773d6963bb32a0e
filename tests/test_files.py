# SPDX-License-Identifier: Apache-2.0
"""Nothing lost: whatever ends a build, files that were there stay as they were, or the new one is there whole; and where weights live."""
import os
import random
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
from measure import measure
from onnx import TensorProto, helper, numpy_helper

F = TensorProto.FLOAT


def layers(count, width, data=None, location="w.bin"):
    """`count` products of width x width. With `data`, a file object, the weights are written there and left outside of the model."""
    nodes, weights = [], []
    block = np.random.default_rng(1).standard_normal(width * width, np.float32) / np.float32(np.sqrt(width))
    for i in range(count):
        values = np.roll(block, 7919 * i)  # distinct contents at the price of a copy
        name = f"w{i}"
        if data is None:
            weights.append(numpy_helper.from_array(values.reshape(width, width), name))
        else:
            data.seek(-data.tell() % 4096, os.SEEK_CUR)
            tensor = TensorProto(name=name, data_type=F, dims=[width, width], data_location=TensorProto.EXTERNAL)
            for key, text in (("location", location), ("offset", data.tell()), ("length", values.nbytes)):
                tensor.external_data.add(key=key, value=str(text))
            data.write(values.data)
            weights.append(tensor)
        nodes.append(helper.make_node("MatMul", [f"x{i}", name], [f"x{i + 1}"], name=f"product{i}"))
    graph = helper.make_graph(nodes, "layers", [helper.make_tensor_value_info("x0", F, [1, width])],
                              [helper.make_tensor_value_info(f"x{count}", F, [1, width])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=8)


def long_build(count=15_000):
    """A model whose build takes long enough to be interrupted."""
    nodes = [helper.make_node("Slice", ["x", "a", f"b{i % 50}"], [f"s{i}"], name=f"slice{i}") for i in range(count)]
    nodes.append(helper.make_node("Concat", [f"s{i}" for i in range(count)], ["y"], axis=0))
    weights = [numpy_helper.from_array(np.array([0], np.int64), "a")]
    weights += [numpy_helper.from_array(np.array([i + 1], np.int64), f"b{i}") for i in range(50)]
    graph = helper.make_graph(nodes, "slices", [helper.make_tensor_value_info("x", F, [64])], [helper.make_tensor_value_info("y", F, None)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=8)


def entries(folder):
    return sorted(p.name for p in folder.iterdir())


@pytest.fixture
def small(tmp_path):
    """A model of about 4 MB and its folder."""
    (tmp_path / "model.onnx").write_bytes(layers(16, 256).SerializeToString())
    return tmp_path / "model.onnx"


def mounted(folder, options):
    """Mounts a tmpfs, or skips the test where that is not allowed."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], capture_output=True, text=True) if shutil.which("mount") else None
    if done is None or done.returncode:
        pytest.skip("a file system cannot be mounted here")


@pytest.fixture
def tiny_disk(tmp_path):
    folder = tmp_path / "disk"
    mounted(folder, "size=1m")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


# --- Kills -----------------------------------------------------------------------------------------------------------------

def test_killed_at_50_points(rota_path, small):
    """The engine that was there is there, byte for byte, or the new one is; nothing half, nothing besides."""
    engine = small.parent / "e.rota"
    old = b"ROTAENG\0 the engine that was there before"
    command = [str(rota_path), "build", str(small), "-o", str(engine), "--quiet", "--level", "0"]
    start = time.monotonic()
    subprocess.run(command, check=True)
    whole, seconds = engine.read_bytes(), time.monotonic() - start
    generator = random.Random(11)
    seen = {"old": 0, "new": 0}
    for point in range(50):
        engine.write_bytes(old)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(generator.uniform(0, 1.2 * seconds))
        process.kill()
        process.wait()
        content = engine.read_bytes()
        assert content in (old, whole), f"point {point}: {len(content)} bytes that are neither the old nor the new engine"
        seen["old" if content == old else "new"] += 1
        leftover = [name for name in entries(small.parent) if name.startswith(".rota-")]
        assert len(leftover) <= 1  # between naming and renaming; usually there is none
        for name in leftover:
            (small.parent / name).unlink()
    assert seen["old"] > 5, f"no kill came before the end of the build: {seen}"
    assert entries(small.parent) == ["e.rota", "model.onnx"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_interrupt(number, rota_path, tmp_path):
    (tmp_path / "model.onnx").write_bytes(long_build().SerializeToString())
    engine = tmp_path / "e.rota"
    engine.write_bytes(b"old")
    process = subprocess.Popen([str(rota_path), "build", str(tmp_path / "model.onnx"), "-o", str(engine)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.4)
    start = time.monotonic()
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 5, f"exit code {process.returncode}: {errors[-500:]}"
    assert time.monotonic() - start < 6
    assert re.search("R1602.*interrupted", errors), errors
    assert engine.read_bytes() == b"old"
    assert entries(tmp_path) == ["e.rota", "model.onnx"]


# --- Full disks and read-only folders -----------------------------------------------------------------------------------------

def test_full_disk(rota_path, small, tiny_disk):
    (tiny_disk / "e.rota").write_bytes(b"old")
    done = measure(rota_path, "build", small, "-o", tiny_disk / "e.rota")
    assert done.code == 7, done.text
    assert re.search(r"R1504 at '.*e\.rota': there is no room for the file", done.text), done.text
    assert (tiny_disk / "e.rota").read_bytes() == b"old"
    assert entries(tiny_disk) == ["e.rota"]


def test_full_disk_of_outputs(rota_path, tmp_path, tiny_disk):
    graph = helper.make_graph([helper.make_node("Expand", ["x", "s"], ["y"])], "g", [helper.make_tensor_value_info("x", F, [1])],
                              [helper.make_tensor_value_info("y", F, None)], [numpy_helper.from_array(np.array([1 << 20], np.int64), "s")])
    (tmp_path / "model.onnx").write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=8).SerializeToString())
    (tiny_disk / "y.npy").write_bytes(b"old")
    done = measure(rota_path, "run", tmp_path / "model.onnx", "--outputs", tiny_disk)
    assert done.code == 7 and "R1504" in done.text, done.text
    assert (tiny_disk / "y.npy").read_bytes() == b"old"
    assert entries(tiny_disk) == ["y.npy"]


def test_limit_of_file_size(rota_path, small):
    """Without a file system to fill: a limit of the process is the same to a writer."""
    (small.parent / "e.rota").write_bytes(b"old")
    for where in ([], ["--weights", "external"]):
        done = measure(rota_path, "build", small, "-o", small.parent / "e.rota", *where, limits={"RLIMIT_FSIZE": 1 << 20})
        assert done.code == 7 and "R1504" in done.text, done.text
        assert (small.parent / "e.rota").read_bytes() == b"old"
        assert entries(small.parent) == ["e.rota", "model.onnx"]


@pytest.mark.parametrize("arguments", [["version"], ["devices"], ["version", "--json"]])
def test_full_standard_output(arguments, rota_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run([str(rota_path), *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 7 and "R1504" in done.stderr, done.stderr


def test_read_only_folder(rota_path, small, tmp_path):
    folder = tmp_path / "read_only"
    mounted(folder, "size=1m")
    try:
        (folder / "e.rota").write_bytes(b"old")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        done = measure(rota_path, "build", small, "-o", folder / "e.rota")
        assert done.code == 1 and re.search("R1503.*read-only", done.text), done.text
        assert (folder / "e.rota").read_bytes() == b"old"
        assert entries(folder) == ["e.rota"]
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("target, words", [("missing/e.rota", "folder of the file does not exist"), (".", "not a regular file|not the name of a file"), ("/dev/null", "not a regular file")])
def test_places_that_cannot_be_written(target, words, rota_path, small):
    done = measure(rota_path, "build", small, "-o", small.parent / target, cwd=small.parent)
    assert done.code == 1 and re.search("R1503.*(" + words + ")", done.text), done.text
    assert entries(small.parent) == ["model.onnx"]


# --- Engine files ----------------------------------------------------------------------------------------------------------------

def test_damaged_engines(rota_path, small):
    """Cut, flipped, extended, foreign: inspect and run refuse with words; the library's tests go through every byte."""
    engine = small.parent / "e.rota"
    subprocess.run([str(rota_path), "build", str(small), "-o", str(engine), "--quiet"], check=True)
    whole = engine.read_bytes()
    generator = random.Random(3)
    broken = [whole[:len(whole) * i // 12] for i in range(12)] + [whole + b"x", b"dummy", b"", bytes(1000)]
    for at in (3, 9, 60, 130, len(whole) - 100, len(whole) - 5000):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << generator.randrange(8)
        broken.append(bytes(flipped))
    for content in broken:
        engine.write_bytes(content)
        for command in ("inspect", "run"):
            done = measure(rota_path, command, engine, cwd=small.parent)
            assert done.code in (1, 4) and re.search(r"R1[13]0\d", done.text), done.text
            assert done.cpu_s < 1
    engine.write_bytes(whole)
    as_model = measure(rota_path, "build", engine, "-o", small.parent / "again.rota")
    assert as_model.code == 1 and "R1101" in as_model.text
    as_engine = measure(rota_path, "inspect", small)
    assert as_engine.code in (1, 4) and "ONNX model" in as_engine.text


def test_native_code_only_where_allowed(rota_path, small):
    """`--no-native-code` at load refuses an engine that needs a library; one built with it runs."""
    engine = small.parent / "e.rota"
    subprocess.run([str(rota_path), "build", str(small), "-o", str(engine), "--quiet"], check=True)
    needs_library = '"library": "onednn"' in measure(rota_path, "inspect", engine, "--json").stdout
    done = measure(rota_path, "run", engine, "--no-native-code")
    assert done.code == (4 if needs_library else 0), done.text
    assert not needs_library or re.search("R1304 at 'product0.*library 'onednn'.*--no-native-code", done.text), done.text
    subprocess.run([str(rota_path), "build", str(small), "-o", str(engine), "--quiet", "--no-native-code"], check=True)
    assert measure(rota_path, "run", engine, "--no-native-code").code == 0
    assert "trust" in measure(rota_path, "--help").stdout


# --- Where weights live --------------------------------------------------------------------------------------------------------

def answer(rota_path, what, folder, *options):
    shutil.rmtree(folder / "out", ignore_errors=True)
    np.save(folder / "x0.npy", np.ones((1, 256), np.float32))
    done = measure(rota_path, "run", what, "--inputs", f"x0={folder / 'x0.npy'}", "--outputs", folder / "out", *options)
    assert done.code == 0, done.text
    return np.load(next((folder / "out").iterdir()))


def test_weights_inside_external_stripped(rota_path, tmp_path):
    with open(tmp_path / "w.bin", "wb") as data:
        (tmp_path / "model.onnx").write_bytes(layers(8, 256, data).SerializeToString())
    for place in ("inside", "external", "stripped"):
        subprocess.run([str(rota_path), "build", str(tmp_path / "model.onnx"), "-o", str(tmp_path / place), "--quiet", "--weights", place], check=True)
    weights = 8 * 256 * 256 * 4
    sizes = {place: (tmp_path / place).stat().st_size for place in ("inside", "external", "stripped")}
    assert sizes["inside"] > weights and sizes["external"] < weights / 10 and sizes["stripped"] < weights / 10, sizes
    assert entries(tmp_path) == ["external", "inside", "model.onnx", "stripped", "w.bin"], "external weights are not copied"
    want = answer(rota_path, tmp_path / "inside", tmp_path)
    assert np.array_equal(answer(rota_path, tmp_path / "external", tmp_path), want)
    assert np.array_equal(answer(rota_path, tmp_path / "stripped", tmp_path, "--weights-from", tmp_path / "inside"), want)
    bare = measure(rota_path, "run", tmp_path / "stripped")
    assert bare.code == 2 and "--weights-from" in bare.text
    assert measure(rota_path, "inspect", tmp_path / "stripped").code == 0
    # One changed byte in the data file is noticed by its hash.
    with open(tmp_path / "w.bin", "r+b") as data:
        data.seek(300_000)
        data.write(b"\x55")
    changed = measure(rota_path, "run", tmp_path / "external")
    assert changed.code == 4 and re.search("not the one that it was built with.*initializer w1", changed.text), changed.text


# --- Models larger than what protobuf holds ---------------------------------------------------------------------------------------

@pytest.mark.skipif("ROTA_TEST_HUGE_GB" not in os.environ, reason="part of `make test-full`; ROTA_TEST_HUGE_GB=6 for files of so many gigabytes")
@pytest.mark.parametrize("place", ["external", "inside"])
def test_huge_model(place, rota_path, tmp_path):
    """Weights of several gigabytes: building and running take at most 1.3 times their size, file pages that are mapped included."""
    width = 8192
    count = max(int(float(os.environ["ROTA_TEST_HUGE_GB"]) * 2**30 / (width * width * 4)), 1)
    with open(tmp_path / "w.bin", "wb") as data:
        (tmp_path / "model.onnx").write_bytes(layers(count, width, data).SerializeToString())
    weights = count * width * width * 4
    build = measure(rota_path, "build", tmp_path / "model.onnx", "-o", tmp_path / "e.rota", "--weights", place, timeout=900)
    assert build.code == 0, build.text
    run = measure(rota_path, "run", tmp_path / "e.rota", "--outputs", tmp_path / "out", timeout=900)
    assert run.code == 0, run.text
    print(f"{place}: weights {weights / 2**30:.1f} GiB; build {build.wall_s:.0f} s, peak {build.peak_bytes / weights:.2f}; "
          f"run {run.wall_s:.0f} s, peak {run.peak_bytes / weights:.2f}; engine {(tmp_path / 'e.rota').stat().st_size / 2**20:.1f} MiB")
    assert build.peak_bytes < 1.3 * weights and run.peak_bytes < 1.3 * weights
    assert np.isfinite(np.load(next((tmp_path / "out").iterdir()))).all()
    assert (tmp_path / "e.rota").stat().st_size < (weights * 1.01 if place == "inside" else 1 << 22)
    shutil.rmtree(tmp_path)
