"""A panorama head whose views fail as long as the scene's folder holds a file named ``broken``."""

from __future__ import annotations

import sys

from hvs_ros.angles import Direction
from hvs_ros.nodes import panorama_head
from hvs_ros.panorama.surroundings import Surroundings
from hvs_ros.search.view import Picture

_render = Surroundings.render


def _broken(self: Surroundings, direction: Direction) -> Picture:
    if self.scene.panorama_path.with_name("broken").exists():
        raise MemoryError("no room for the view")
    return _render(self, direction)


if __name__ == "__main__":
    Surroundings.render = _broken  # type: ignore[method-assign]
    sys.exit(panorama_head.main())
