"""Finds files: those that are installed beside the code (config/, launch/, scenes/, rviz/, foxglove/), and the user's.

The former lie in ``<prefix>/share/hvs_ros`` after ``colcon build`` and after ``pip install``, and in the source tree
when hvs_ros is run from a checkout, is installed editable, or was built with ``colcon build --symlink-install``. All of
these are above this file, so they are found by walking up from it; no ament index is needed, which an environment made
by pip lacks.
"""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path

PACKAGE = "hvs_ros"


class ShareError(Exception):
    """The package's own files are not where they are installed; the message names what is missing."""


@lru_cache(maxsize=1)
def share_directory() -> Path:
    """Return the folder that holds config/, launch/, scenes/, rviz/ and foxglove/.

    Raises:
        ShareError: it is nowhere above this file.
    """
    here = Path(__file__)
    # A symlinked install has links in its own tree that lead to the source.
    for parent in [*here.absolute().parents, *here.resolve().parents]:
        for folder in (parent / "share" / PACKAGE, parent):
            if (folder / "package.xml").is_file() and (folder / "config").is_dir():
                return folder
    raise ShareError(
        f"the files of {PACKAGE} (config/, launch/, scenes/) are neither in share/{PACKAGE} of the environment of "
        f"{here} nor beside it: install {PACKAGE} again"
    )


def share_file(*parts: str) -> Path:
    """Return a file or folder in it, e.g. ``share_file("config", "panorama_head.yaml")``.

    Raises:
        ShareError: it is not there.
    """
    path = share_directory().joinpath(*parts)
    if not path.exists():
        raise ShareError(f"{path} is missing: install {PACKAGE} again")
    return path


def sample_scenes() -> Path:
    """Return the folder of the sample scenes.

    Raises:
        ShareError: it is not there.
    """
    return share_file("scenes")


def user_path(text: str | Path) -> Path:
    """Return a path as a user writes it: ``~`` and ``~name`` are homes, unless nobody knows where that is."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def write_problem(folder: Path) -> str:
    """Make the folder if need be, and say why nothing can be written into it; empty: it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return f"{folder}: cannot be written: {error.strerror or error}"
