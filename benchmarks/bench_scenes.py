"""Scenes to run on: drawn, four tasks from four starts each, as JPEG 4096x2048 and as PNG 7680x3840.

The larger ones are the smaller ones, enlarged, with the noise of a camera: without it they would be a third of the size
of a photograph's PNG, and quicker to decode.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np

from hvs_ros.panorama.annotation import ANNOTATION_NAME

TASKS, STARTS = 4, 4
JPEG, PNG = "jpeg 4096x2048", "png 7680x3840"
PNG_SIZE = 7680, 3840
NOISE = 3.0
"""Of the PNG pictures, standard deviation in grey levels."""


def drawn_scenes(folder: Path, count: int) -> dict[str, Path]:
    """Return folders of so many scenes in either form; what lies there from an earlier run is used again."""
    forms = {JPEG: folder / "jpeg", PNG: folder / "png"}
    if len(list(forms[JPEG].glob("*/" + ANNOTATION_NAME))) != count:
        shutil.rmtree(forms[JPEG], ignore_errors=True)
        counts = {"--scenes": count, "--tasks": TASKS, "--starts": STARTS, "--width": 4096}
        order = [f"{word}" for pair in counts.items() for word in pair]
        subprocess.run(
            [sys.executable, "-m", "hvs_ros.mock.rooms", str(forms[JPEG]), *order],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    for scene in sorted(forms[JPEG].iterdir()):
        enlarged = forms[PNG] / scene.name
        if (enlarged / ANNOTATION_NAME).exists():
            continue
        enlarged.mkdir(parents=True, exist_ok=True)
        picture = cv2.resize(cv2.imread(str(scene / f"{scene.name}.jpg")), PNG_SIZE, interpolation=cv2.INTER_CUBIC)
        noise = np.random.default_rng(0).standard_normal(picture.shape, np.float32) * NOISE
        cv2.imwrite(str(enlarged / f"{scene.name}.png"), np.clip(picture + noise, 0, 255).astype(np.uint8))
        shutil.copy(scene / ANNOTATION_NAME, enlarged)
    return forms
