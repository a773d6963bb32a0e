# SPDX-License-Identifier: Apache-2.0
"""The test cases of the pinned onnx package, run by the reference evaluator (tests/conformance/node_tests.cpp). What may fail
stands in tests/conformance/exclusions.txt, with the reason; an excluded case that passes is a failure too. At most 2% of the cases may
stand there, not counting those with strings, of training or ai.onnx.ml, or of operator sets before 7, which Rota refuses."""
import re
import subprocess

import onnx
import pytest

CAP = 0.02
OUTSIDE = ("ai.onnx.ml", "ai.onnx.preview.training")


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


def graphs(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs:
                yield from graphs(inner)


def has_strings(type_proto):
    kind = type_proto.WhichOneof("value")
    if kind == "tensor_type":
        return type_proto.tensor_type.elem_type == onnx.TensorProto.STRING
    return kind in ("sequence_type", "optional_type") and has_strings(getattr(type_proto, kind).elem_type)


def counts(model):
    """Whether a case is one of those that must pass."""
    opsets = {opset.domain: opset.version for opset in model.opset_import}
    if opsets.get("", 7) < 7 or any(domain in opsets for domain in OUTSIDE):
        return False
    return not any(has_strings(value.type) for graph in graphs(model.graph) for value in [*graph.input, *graph.output, *graph.value_info]) \
        and not any(tensor.data_type == onnx.TensorProto.STRING for graph in graphs(model.graph) for tensor in graph.initializer)


def share_excluded(counted, excluded):
    """Excluded cases among those that count, as a share of them."""
    return len(counted & excluded) / len(counted)


def test_at_most_two_percent_are_excluded(root, cases):
    names = [line.split("\t")[0] for line in (cases / "cases.tsv").read_text().splitlines()]
    counted = {name for name in names if counts(onnx.load(cases / name / "model.onnx", load_external_data=False))}
    excluded = {line.split()[0] for line in (root / "tests/conformance/exclusions.txt").read_text().splitlines() if not line.startswith("#")}
    share = share_excluded(counted, excluded)
    print(f"{len(names)} cases, {len(counted)} count, {len(counted & excluded)} of them excluded: {share:.2%}")
    assert len(counted) > 1500, "hardly any case counts: has the package changed?"
    assert share <= CAP, f"{share:.2%} of the cases that count are excluded: {sorted(counted & excluded)}"


def test_the_share_counts_what_it_should():
    counted = {f"case{i}" for i in range(100)}
    assert share_excluded(counted, {"case1", "case2", "old_opset"}) == CAP
    assert share_excluded(counted, {"case1", "case2", "case3"}) > CAP
    string = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.STRING, [1])
    number = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])

    def model(value, **opsets):
        graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["x2"])], "g", [value], [onnx.helper.make_empty_tensor_value_info("x2")])
        return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid(domain.replace("_", "."), v) for domain, v in opsets.items()])

    assert counts(model(number, **{"": 7}))
    assert not counts(model(number, **{"": 6}))
    assert not counts(model(string, **{"": 7}))
    assert not counts(model(number, **{"": 7, "ai.onnx.ml": 1}))
