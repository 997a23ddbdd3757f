"""Shows a person the view: in a window where OpenCV has one, otherwise as a file that is rewritten every turn."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import tempfile
import threading
from pathlib import Path
from typing import Protocol

import cv2

from hvs_ros.search.view import Picture
from hvs_ros.share import user_path

_TITLE = "hvs_ros"
_OPEN_S = 5.0


class Display(Protocol):
    """Shows pictures."""

    where: str
    """What to tell the person about where to look."""

    def show(self, picture: Picture) -> None:
        """Show a picture, BGR uint8 (height, width, 3)."""
        ...

    def close(self) -> None:
        """Take it away."""
        ...


class FileDisplay:
    """Writes the picture to a file; a viewer never finds half a picture in it.

    Args:
        path: of the file, ending like a picture's; empty: a new one in the folder for temporary files.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, path: str = "") -> None:
        self._folder = None if path else tempfile.mkdtemp(prefix="hvs_view_")
        self.path = user_path(path).absolute() if path else Path(self._folder or "") / "view.jpg"
        if self.path.suffix.lower() not in (".jpg", ".jpeg", ".png"):
            raise OSError(f"{self.path}: give a file that ends in .jpg or .png")
        self.where = f"the view is in {self.path}: open it in a viewer that reloads a file when it changes"

    def show(self, picture: Picture) -> None:
        """Write the picture."""
        made, data = cv2.imencode(self.path.suffix, picture)
        if not made:
            raise OSError(f"{self.path}: the view cannot be encoded")
        whole = self.path.with_name(f".{self.path.name}.part")
        whole.write_bytes(data.tobytes())
        os.replace(whole, self.path)

    def close(self) -> None:
        """Remove the file if it was made up here."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


class WindowDisplay:
    """A window. OpenCV wants all of it done in one thread, which is not the one that decides.

    Raises:
        OSError: OpenCV has no window here.
    """

    where = "the view is in the window"

    def __init__(self) -> None:
        self._pictures: queue.SimpleQueue[Picture | None] = queue.SimpleQueue()
        self._opened: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="view window", daemon=True)
        self._thread.start()
        try:
            problem = self._opened.get(timeout=_OPEN_S)
        except queue.Empty:
            problem = f"it did not open in {_OPEN_S:g} s"
        if problem:
            raise OSError(f"no window: {problem}")

    def show(self, picture: Picture) -> None:
        """Show the picture."""
        self._pictures.put(picture)

    def close(self) -> None:
        """Close the window."""
        self._pictures.put(None)
        self._thread.join(timeout=1.0)

    def _run(self) -> None:
        try:
            cv2.namedWindow(_TITLE, cv2.WINDOW_NORMAL)
        except cv2.error as error:
            self._opened.put(str(error).strip().splitlines()[-1] if str(error).strip() else "OpenCV has none")
            return
        self._opened.put("")
        with contextlib.suppress(cv2.error):
            while True:
                with contextlib.suppress(queue.Empty):
                    picture = self._pictures.get(timeout=0.03)
                    if picture is None:
                        cv2.destroyWindow(_TITLE)
                        return
                    cv2.imshow(_TITLE, picture)
                cv2.waitKey(1)


def open_display(view: str) -> Display:
    """Return where to show views.

    Args:
        view: "window", a file's path, or empty: a window if there is a screen and OpenCV has windows, else a file.

    Raises:
        OSError: that cannot be had.
    """
    if view == "window":
        return WindowDisplay()
    if not view and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        with contextlib.suppress(OSError):
            return WindowDisplay()
    return FileDisplay(view)
