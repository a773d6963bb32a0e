# SPDX-License-Identifier: Apache-2.0
"""The test cases of the pinned onnx package, run by the reference evaluator (tests/conformance/node_tests.cpp). What may fail
stands in tests/conformance/exclusions.txt, with the reason; an excluded case that passes is a failure too."""
import re
import subprocess

import pytest


@pytest.fixture(scope="module")
def cases(node_cases):
    return node_cases


@pytest.fixture(scope="module")
def program(root):
    path = root / "build/release/tests/rota_node_tests"
    assert path.is_file(), f"{path} is not built: make build"
    return path


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=900)


def test_cases_of_the_onnx_package(root, cases, program):
    done = run(program, cases, "--exclusions", root / "tests/conformance/exclusions.txt")
    print(done.stdout[-20000:])
    last = done.stdout.strip().splitlines()[-1]
    assert re.fullmatch(r"\d+ passed, 0 failed, \d+ excluded", last), last
    assert done.returncode == 0, done.stderr


def test_a_stale_exclusion_fails(cases, program, tmp_path):
    exclusions = tmp_path / "exclusions.txt"
    exclusions.write_text("test_relu  passes in fact\n")
    done = run(program, cases, "--filter", "=test_relu", "--exclusions", exclusions)
    assert done.returncode == 1
    assert "passes, but is in the list" in done.stdout


def test_a_wrong_answer_fails(cases, program, tmp_path):
    data = tmp_path / "cases/test_relu/test_data_set_0"
    data.mkdir(parents=True)
    source = cases / "test_relu"
    (tmp_path / "cases/cases.tsv").write_text("test_relu\t0.001\t1e-07\tnode\n")
    (tmp_path / "cases/test_relu/model.onnx").write_bytes((source / "model.onnx").read_bytes())
    (data / "input_0.pb").write_bytes((source / "test_data_set_0/input_0.pb").read_bytes())
    output = bytearray((source / "test_data_set_0/output_0.pb").read_bytes())
    output[-1] ^= 0x41  # sign and exponent of the last float
    (data / "output_0.pb").write_bytes(output)
    done = run(program, tmp_path / "cases")
    assert done.returncode == 1
    assert re.search(r"FAIL test_relu: .*1 of 60 elements of float32\[3,4,5\] differ", done.stdout), done.stdout
