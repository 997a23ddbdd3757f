"""Finds the URDF of a robot where nobody publishes it: in a pip package, or in a file.

Packages are looked up, never imported: some import half a robot's software when they are.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from hvs_ros.neck.robot import Description, RobotError
from hvs_ros.share import user_path


def find_urdf(description: Description) -> Path:
    """Return the file of a robot's URDF.

    Raises:
        RobotError: it says of none, the pip package that has it is not installed, or the file is not there.
    """
    if not description.file:
        raise RobotError(
            "there is no URDF of this robot beside the one that its driver publishes: start robot_state_publisher, or "
            "give a file (description: {file: ...} in the robot's YAML)"
        )
    path = _folder(description) / user_path(description.file)
    if path.is_file():
        return path
    if description.package:
        raise RobotError(
            f"there is no {path}: {description.package}, a pip package, is not installed or another version of it is: "
            f"pip install -e '.[twin]' or pip install {description.package}"
        )
    raise RobotError(f"description.file is {path}, and there is no such file")


def read_urdf(description: Description) -> str:
    """Return the text of a robot's URDF.

    Raises:
        RobotError: see ``find_urdf``; or the file cannot be read.
    """
    path = find_urdf(description)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RobotError(f"{path}: cannot be read: {error}") from error


def _folder(description: Description) -> Path:
    """Return what its file is relative to; an absolute file does not care."""
    if not description.package:
        return Path()
    if not description.module:
        return Path(sys.prefix)
    spec = importlib.util.find_spec(description.module)
    folders = list(spec.submodule_search_locations or []) if spec else []
    if not folders:
        raise RobotError(
            f"the URDF of this robot is in {description.package}, a pip package that is not installed: "
            f"pip install -e '.[twin]' or pip install {description.package}"
        )
    return Path(folders[0])
