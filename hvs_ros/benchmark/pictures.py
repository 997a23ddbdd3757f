"""Are the pictures of a run fit for it? Asked before the first episode, not found out in the two-hundredth.

Decoding is the only full answer, and it takes a tenth of a second and more a picture. So a few pictures are decoded,
and of many only the files' structure is read, which still finds what is no picture or cut short.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hvs_ros.panorama import PictureError, open_panorama
from hvs_ros.panorama.header import HeaderError, jpeg_is_complete, read_header

DECODED_BYTES = 64 * 1024 * 1024
"""Files that take no more in all are decoded."""


def broken_pictures(paths: Sequence[Path], *, decode: bool | None = None) -> list[str]:
    """Return what is wrong with the pictures: a line for each broken one, with its name.

    Args:
        paths: panoramas.
        decode: look at the pixels of each; None: where that does not take long.
    """
    if decode is None:
        decode = sum(path.stat().st_size for path in paths if path.exists()) <= DECODED_BYTES
    check: Callable[[Path], str] = _decoded if decode else _read
    with ThreadPoolExecutor(2) as pool:
        return [problem for problem in pool.map(check, paths) if problem]


def _decoded(path: Path) -> str:
    try:
        open_panorama(path)
    except PictureError as error:
        return str(error)
    return ""


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
        if read_header(data).kind == "JPEG" and not jpeg_is_complete(data):
            return f"{path}: truncated: the JPEG does not end"
    except OSError as error:
        return f"{path}: cannot be read: {error.strerror or error}"
    except HeaderError as error:
        return f"{path}: {error}"
    return ""
