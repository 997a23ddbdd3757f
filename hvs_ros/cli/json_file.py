"""Figures that a verb writes for other programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hvs_ros.cli.error import VerbError

STANDARD_OUTPUT = Path("-")


def write_json(file: Path, values: object) -> None:
    """Write values to a file, or print them where it is ``-``.

    Raises:
        VerbError: it cannot be written.
    """
    text = json.dumps(values, ensure_ascii=False, indent=1) + "\n"
    if file == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise VerbError(f"{file} cannot be written: {error.strerror or error}") from error
