# SPDX-License-Identifier: Apache-2.0
"""What Python tests share: the program under test (build/release/bin/rota, or $ROTA), a way to call it, and a server of small models."""
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from case_server import CaseServer

ROOT = Path(__file__).resolve().parent.parent
# A job that a shell starts in the background ignores SIGINT, and so would every program that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root():
    """The source folder."""
    return ROOT


@pytest.fixture(scope="session")
def rota_path():
    path = Path(os.environ.get("ROTA", ROOT / "build/release/bin/rota"))
    assert path.is_file(), f"{path} is not built: make build"
    return path


@pytest.fixture(scope="session")
def node_cases(root):
    """The folder with the test cases of the onnx package (see conformance/export_node_tests.py)."""
    folder = root / "build/node_tests"
    subprocess.run([sys.executable, root / "tests/conformance/export_node_tests.py", folder], check=True)
    return folder


@pytest.fixture(scope="session")
def case_server(root):
    """Answers small models without starting a process for each; see case_server.py."""
    path = root / "build/release/tests/rota_case_server"
    assert path.is_file(), f"{path} is not built: make build"
    server = CaseServer(path)
    yield server
    server.close()


@pytest.fixture
def rota(rota_path, tmp_path):
    """rota(*arguments, code=0, **options): runs the program in an empty folder with a cache of its own, expects the exit
    code, returns the finished process. Options go to subprocess.run; code=None accepts any."""

    def call(*arguments, code=0, timeout=120, env=None, **options):
        environment = {**os.environ, "ROTA_CACHE_DIR": str(tmp_path / "cache"), **(env or {})}
        done = subprocess.run([str(rota_path), *map(str, arguments)], cwd=tmp_path, env=environment, capture_output=True,
                              text=True, timeout=timeout, **options)
        assert code is None or done.returncode == code, \
            f"exit code {done.returncode}, expected {code}\nstdout: {done.stdout[-2000:]}\nstderr: {done.stderr[-4000:]}"
        return done

    return call
