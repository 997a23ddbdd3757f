"""Reads the text in a picture with RapidOCR, whose weights come inside its wheel, on the processor and offline."""

from __future__ import annotations

import importlib
import logging
from typing import Any

import cv2
import numpy as np

from hvs_ros.policy.contract import PolicyUnavailableError
from hvs_ros.policy.sign_reading.lines import Line
from hvs_ros.search.view import Picture

NEEDED = ("rapidfuzz", "onnxruntime", "rapidocr")
"""Packages of the extra ``signs``."""
EXTRA = "the extra 'signs' of hvs_ros, pip install -e '.[signs]' in its folder"


def require_packages() -> None:
    """Check that what reads and compares text is installed.

    Raises:
        PolicyUnavailableError: it is not; one line that says what to install.
    """
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise PolicyUnavailableError(
                f"policy 'signs' needs the package '{name}' ({error}): {EXTRA}"
            ) from error


class TextReader:
    """Finds and reads lines of text.

    Args:
        threads: processor threads; 0: as many as there are cores, at most 4.
        text_score: lines read with less confidence are dropped, 0 to 1.
        max_side: pictures are shrunk so that their longer side has at most so many pixels before text is looked for.

    Raises:
        PolicyUnavailableError: the reader cannot be loaded.
    """

    def __init__(self, *, threads: int = 0, text_score: float = 0.5, max_side: int = 1600) -> None:
        require_packages()
        self._max_side = max_side
        self._text_score = text_score
        count = threads or min(4, cv2.getNumberOfCPUs())
        parameters = {
            "Global.log_level": "critical",
            "Global.text_score": text_score,
            "Global.max_side_len": 4000,
            # Small pictures are read as they are; by default they would be blown up first.
            "Det.limit_side_len": 480,
            "EngineConfig.onnxruntime.intra_op_num_threads": count,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
        try:
            from rapidocr import RapidOCR

            self._engine: Any = RapidOCR(params=parameters)
            self._engine(np.zeros((64, 64, 3), np.uint8))  # loads the weights
        except Exception as error:
            raise PolicyUnavailableError(
                f"policy 'signs' cannot load its text reader ({error}): install again {EXTRA}"
            ) from error
        logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)

    def read(self, image: Picture, *, any_way_up: bool = False) -> list[Line]:
        """Return the lines in a picture, BGR uint8 (height, width, 3); quads are in its pixels.

        Args:
            image: the picture.
            any_way_up: text may stand on its head, as on the floor.
        """
        height, width = image.shape[:2]
        scale = min(1.0, self._max_side / max(height, width))
        if scale < 1.0:
            image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
        result = self._engine(image, use_cls=any_way_up)
        if getattr(result, "boxes", None) is None or result.txts is None:
            return []
        return [
            Line(text.strip(), float(score), np.asarray(quad, np.float64) / scale)
            for text, score, quad in zip(result.txts, result.scores, result.boxes, strict=True)
            if text.strip() and float(score) >= self._text_score
        ]

    def read_part(
        self, image: Picture, box: tuple[int, int, int, int], zoom: float, *, any_way_up: bool = False
    ) -> list[Line]:
        """Return the lines in a part of a picture, enlarged; quads are in the whole picture's pixels.

        Args:
            image: the whole picture.
            box: left, top, right, bottom of the part.
            zoom: how much to enlarge it.
            any_way_up: text may stand on its head.
        """
        left, top, right, bottom = box
        part = image[top:bottom, left:right]
        if part.size == 0:
            return []
        enlarged = cv2.resize(part, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_CUBIC)
        offset = np.array([left, top], np.float64)
        lines = self.read(enlarged, any_way_up=any_way_up)  # type: ignore[arg-type]
        return [Line(line.text, line.confidence, line.quad / zoom + offset) for line in lines]
