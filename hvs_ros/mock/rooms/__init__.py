"""Draws rooms to search in: panoramas of invented interiors whose every target is known exactly.

A photograph's targets have to be measured by hand, and few photographs may be given away. So the sample scenes, and the
many scenes that tests and benchmarks want, are built as rooms of simple surfaces (``station``, ``shop``,
``corridor``, ``library``), lit (``light``) and seen from a point in their middle (``render``). The same seed gives the
same rooms. ``python -m hvs_ros.mock.rooms OUT`` writes them as scene folders; Pillow and OpenCV are needed.
"""

from __future__ import annotations

from hvs_ros.mock.rooms.data_set import Order, write_scenes
from hvs_ros.mock.rooms.render import Drawing
from hvs_ros.mock.rooms.scene import KINDS, Sample, build_room, draw_room, draw_scene

__all__ = ["KINDS", "Drawing", "Order", "Sample", "build_room", "draw_room", "draw_scene", "write_scenes"]
