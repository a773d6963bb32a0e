# SPDX-License-Identifier: Apache-2.0
"""The pages under docs/ that `make gen` writes are what it writes now, and they say something."""
import subprocess

import pytest

PAGES = ("knobs.md", "errors.md", "operators.md", "tactics.md")


@pytest.fixture(scope="module")
def generated(root, tmp_path_factory):
    program, folder = root / "build/release/tools/gen_docs", tmp_path_factory.mktemp("docs")
    assert program.is_file(), f"{program} is not built: make build"
    subprocess.run([program, folder], check=True)
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_page_is_current(root, generated, page):
    assert (generated / page).read_text() == (root / "docs" / page).read_text(), f"docs/{page} is out of date: make gen"


def test_nothing_is_left_out(generated, root):
    operators = (generated / "operators.md").read_text()
    for name in ("Conv", "MatMul", "Softmax", "Reshape", "If"):
        assert f"| {name} |" in operators
    codes = (generated / "errors.md").read_text()
    declared = [line.split("=")[1].split(",")[0].strip() for line in (root / "include/rota/error_code.h").read_text().splitlines()
                if "= 1" in line and "," in line]
    assert len(declared) > 20
    for code in declared:
        assert f"## R{code}: " in codes


def test_usage_and_unwritable_folder(root, tmp_path):
    program = root / "build/release/tools/gen_docs"
    assert subprocess.run([program], capture_output=True).returncode == 2
    done = subprocess.run([program, tmp_path / "missing"], capture_output=True, text=True)
    assert done.returncode == 1 and "cannot write" in done.stderr
