# SPDX-License-Identifier: Apache-2.0
"""The lint finds what it promises to find, and only that: each case is a small tree with one file."""
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import lint  # noqa: E402

COMPONENTS = """
rota_component(core LIBRARY runtime)
rota_component(runtime DEPENDS core LIBRARY runtime TESTS shared)
rota_component(engine DEPENDS runtime LIBRARY runtime EXCEPT "^(writer|inspect)")
rota_component(op DEPENDS core)  # a comment with rota_component(ghost DEPENDS nothing)
rota_component(engine_write FOLDER engine DEPENDS engine op ONLY "^(writer|inspect)")
"""
OPENING = "// SPDX-License-Identifier: Apache-2.0\n// The idea.\n"


def findings_of(tmp_path, path, text, others=()):
    (tmp_path / "cmake").mkdir(exist_ok=True)
    (tmp_path / "cmake/components.cmake").write_text(COMPONENTS)
    for name, content in [(path, text), *((o, OPENING) for o in others)]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    found = lint.Findings()
    lint.check_file(path, tmp_path, lint.read_components(tmp_path), found)
    return [line.split(": ", 1)[1] for line in found.lines], found.soft


def test_clean_file(tmp_path):
    text = OPENING + '#include <vector>\n\n#include "core/size.h"\n\nint f() {\n  // new idea, not new memory\n  return 1\'000;\n}\n'
    assert findings_of(tmp_path, "src/op/relu.cpp", text, ["src/core/size.h"]) == ([], [])


@pytest.mark.parametrize("path, target, allowed", [
    ("src/op/relu.cpp", "core/size.h", True),
    ("src/core/size.cpp", "op/relu.h", False),
    ("src/engine/reader.cpp", "runtime/program.h", True),
    ("src/engine/reader.cpp", "engine/writer.h", False),
    ("src/engine/writer.cpp", "engine/reader.h", True),
    ("src/engine/writer.cpp", "op/relu.h", True),
    ("src/engine/reader.cpp", "op/relu.h", False),
    ("src/runtime/context_test.cpp", "op/relu.h", True),
    ("src/core/size_test.cpp", "op/relu.h", False),
])
def test_layering(tmp_path, path, target, allowed):
    found, _ = findings_of(tmp_path, path, OPENING + f'#include "{target}"\n', ["src/" + target])
    assert (found == []) == allowed, found


@pytest.mark.parametrize("path, text, message", [
    ("src/op/a.cpp", "// nothing\n", "no SPDX line"),
    ("src/op/a.cpp", "// SPDX-License-Identifier: Apache-2.0\nint a;\n", "no comment on the file's idea"),
    ("src/op/a.h", OPENING + "int a;\n", "no #pragma once"),
    ("src/op/a.h", OPENING + "#pragma once\n#include <iostream>\n", "too slow to compile"),
    ("src/op/a.cpp", OPENING + '#include "a.h"\n', "is no file below src/"),
    ("src/unknown/a.cpp", OPENING, "belongs to no component"),
    ("src/op/a.cpp", OPENING + 'const char* a = std::getenv("A");\n', "getenv outside"),
    ("src/op/a.cpp", OPENING + "int* a = new int;\n", "raw new"),
    ("src/op/a.cpp", OPENING + "void f(int* a) { delete a; }\n", "raw delete"),
    ("src/op/a.cpp", OPENING + "// TO" + "DO: later\n", "finish it or file an issue"),
    ("src/op/a.cpp", OPENING + "// see /ho" + "me/me/notes\n", "path of one machine"),
    ("src/op/a.cpp", OPENING + "int a;\n" * 1000, "the limit is 1000"),
    ("src/op/a.cpp", OPENING + "int f() {\n" + "  g();\n" * 121 + "}\n", "function of 123 lines"),
    ("src/op/a.cpp", OPENING + "struct A {\n  int f() {\n" + "    g();\n" * 121 + "  }\n};\n", "function of 123 lines"),
    ("include/rota/a.h", OPENING + "#pragma once\n" + "int a;\n" * 250, "the limit is 250"),
    ("include/rota/a.h", OPENING + '#pragma once\n#include "core/size.h"\n', "public headers and examples include only"),
    ("include/rota/a.h", OPENING + "#pragma once\n#include <fmt/core.h>\n", "a public header includes only"),
])
def test_finding(tmp_path, path, text, message):
    found, _ = findings_of(tmp_path, path, text)
    assert any(message in line for line in found), found


@pytest.mark.parametrize("path, text", [
    ("src/op/a.cpp", OPENING + 'const char* a = "new int, getenv(x)";\n'),
    ("src/op/a.cpp", OPENING + "struct A {\n  A(const A&) = delete;\n};\n"),
    ("src/op/a.cpp", OPENING + "void f(void* p) { new (p) int; }\n"),
    ("src/op/a.cpp", OPENING + "std::unique_ptr<A> A::create() { return std::unique_ptr<A>(new A(1)); }\n"),
    ("src/op/a.cpp", '// SPDX-License-Identifier: Apache-2.0\n#include "op/a.h"\n'),
    ("src/op/a.cpp", OPENING + "// lint: table\n" + "int a;\n" * 1000),
    ("src/op/a.cpp", OPENING + "namespace {\n" + "int a;\n" * 200 + "}\n"),
])
def test_no_finding(tmp_path, path, text):
    assert findings_of(tmp_path, path, text, ["src/op/a.h"])[0] == []


def test_soft_limits_are_counted_only(tmp_path):
    found, soft = findings_of(tmp_path, "src/op/a.cpp", OPENING + "int f() {\n" + "  g();\n" * 70 + "}\n" + "int a;\n" * 500)
    assert found == [] and len(soft) == 2


def compile_library(tmp_path, name, text, *flags):
    source = tmp_path / "a.cpp"
    source.write_text(text)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["g++", "-std=c++20", "-O0", *flags, str(source), "-o", str(tmp_path / name)], check=True)


def test_link_contents(tmp_path):
    compile_library(tmp_path, "lib/librota_runtime.so", "namespace rota { int f() { return 1; } }", "-shared", "-fPIC")
    clean = lint.Findings()
    lint.check_link(tmp_path, clean)
    assert clean.lines == []

    compile_library(tmp_path, "lib/librota_runtime.so", "namespace google::protobuf { int parse() { return 1; } }", "-shared", "-fPIC",
                    "-Wl,--no-as-needed", "-ldnnl")
    found = lint.Findings()
    lint.check_link(tmp_path, found)
    assert any("needs libdnnl" in line for line in found.lines), found.lines
    assert any("google::protobuf" in line for line in found.lines), found.lines


def test_wide_kernels_share_no_inline_functions(tmp_path):
    compile_library(tmp_path, "lib/librota_runtime.so", "int f() { return 1; }", "-shared", "-fPIC")
    item = "CMakeFiles/rota_simd_v3.dir/src/a.cpp.o"
    compile_library(tmp_path, item, "namespace v3 { inline int g() { return 1; } int f() { return g(); } }", "-c")
    clean = lint.Findings()
    lint.check_link(tmp_path, clean)
    assert clean.lines == []

    compile_library(tmp_path, item, "inline int shared() { return 1; } namespace v3 { int f() { return shared(); } }", "-c")
    found = lint.Findings()
    lint.check_link(tmp_path, found)
    assert any("shares shared()" in line for line in found.lines), found.lines
