# SPDX-License-Identifier: Apache-2.0
"""The demo's network: a trained text recogniser, how its input is drawn and how its output is read.

The network is PP-OCRv4's recogniser (PaddlePaddle, Apache-2.0), 10.8 MB, as the PyPI package rapidocr-onnxruntime (Apache-2.0)
ships it. The wheel is downloaded once by name and version, checked against a SHA-256, and only the model is taken out of it:
the package and its dependencies are not installed. The model carries its own character list. Tested by tests/test_demo.py.
"""
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

PACKAGE = "rapidocr-onnxruntime==1.3.24"
WHEEL = "rapidocr_onnxruntime-1.3.24-py3-none-any.whl"
WHEEL_SHA256 = "4282ff0b8db05ad2a53afc8d0ef2e7d879c53022fc61a4f8e84c58d737822cd2"
MODEL = "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx"
MODEL_SHA256 = "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b"

FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")  # Debian's fonts-dejavu-core, see tools/packages.txt
FONT_SIZE = 36
HEIGHT = 48  # what the network was trained on
WIDTH = 520  # holds the three longest words; a shorter phrase is padded on the right
MARGIN = 8

WORDS = """amber anchor apple arrow autumn basket beacon bridge bronze candle canyon castle cedar clover comet copper coral
cotton crystal dawn desert ember falcon feather forest garden glacier granite harbor harvest hazel island ivory jasper lantern
lemon maple marble meadow mirror morning mountain nectar ocean olive orchard paper pebble pepper planet prairie quartz quiet
rainbow raven ribbon river saddle saffron silver spring stone summer sunset thunder timber tulip valley velvet violet walnut
water willow winter yellow zephyr""".split()


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(cache):
    """The model file in the folder `cache`, downloaded if it is not there; raises RuntimeError when it is not the right one."""
    model = Path(cache) / Path(MODEL).name
    if model.is_file() and sha256(model) == MODEL_SHA256:
        return model
    model.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=model.parent) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                   "--only-binary=:all:", "--ignore-requires-python", "--dest", folder, PACKAGE]
        if subprocess.run(command).returncode != 0:
            raise RuntimeError(f"pip could not download {PACKAGE}; the demo needs the network for it, once")
        wheel = Path(folder) / WHEEL
        if sha256(wheel) != WHEEL_SHA256:
            raise RuntimeError(f"{WHEEL} has SHA-256 {sha256(wheel)}, expected {WHEEL_SHA256}")
        with zipfile.ZipFile(wheel) as archive:
            unpacked = Path(folder) / model.name
            unpacked.write_bytes(archive.read(MODEL))
        if sha256(unpacked) != MODEL_SHA256:
            raise RuntimeError(f"{MODEL} has SHA-256 {sha256(unpacked)}, expected {MODEL_SHA256}")
        os.replace(unpacked, model)
    return model


def characters(model):
    """What each class stands for: class 0 is the blank, then the list in the model's metadata, then the space."""
    import onnx
    listed = next(entry.value for entry in onnx.load(str(model)).metadata_props if entry.key == "character")
    return ["", *listed.splitlines(), " "]


def random_phrase(random):
    return " ".join(random.sample(WORDS, 3))


def draw(phrase):
    """The phrase in one line, dark on white, as wide as it needs to be."""
    if not FONT.is_file():
        raise RuntimeError(f"{FONT} is not there: `make setup` installs Debian's fonts-dejavu-core")
    font = ImageFont.truetype(str(FONT), FONT_SIZE)
    image = Image.new("RGB", (int(font.getlength(phrase)) + 2 * MARGIN, HEIGHT), "white")
    ImageDraw.Draw(image).text((MARGIN, HEIGHT // 2), phrase, font=font, fill=(20, 20, 60), anchor="lm")
    return image


def network_input(image):
    """float32[1, 3, HEIGHT, WIDTH]: pixels from -1 to 1, padded on the right with 0, the way the network was trained."""
    pixels = np.asarray(image, np.float32).transpose(2, 0, 1) / 127.5 - 1
    if pixels.shape[2] > WIDTH:
        raise ValueError(f"the drawing is {pixels.shape[2]} pixels wide, the demo's engine takes {WIDTH}")
    padded = np.zeros((1, 3, HEIGHT, WIDTH), np.float32)
    padded[0, :, :, :pixels.shape[2]] = pixels
    return padded


def read(scores, characters):
    """The text in the scores [1, positions, classes]: the best class at each position, repetitions and blanks left out
    (greedy CTC decoding), runs of spaces as one."""
    best = scores[0].argmax(axis=1)
    kept = [k for i, k in enumerate(best) if k != 0 and (i == 0 or best[i - 1] != k)]
    return " ".join("".join(characters[k] for k in kept).split())
