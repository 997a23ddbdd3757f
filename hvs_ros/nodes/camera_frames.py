"""The last pictures of a robot's camera, as they came: which of them count, and the calibration that goes with each.

A camera's stamp is believed only as far as it fits this computer's clock. One that is stamped long ago or in the future
comes from a clock that differs, and the joints of that moment would be those of another one; it is refused, with words.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from sensor_msgs.msg import CameraInfo

from hvs_ros.nodes.convert import NS, time_ns

KEPT_PICTURES = 8
"""Of 6 MB each, where they are raw 1920x1080; at 30 Hz that is a quarter of a second."""

KEPT_INFOS = 32

AHEAD_S = 0.25
"""A picture may be stamped so far ahead of the node's clock: simulated time comes in steps, clocks differ a little."""

CLOCK_JUMP_S = 1.0
"""A picture so much older than the newest one comes from a clock that was set back; those before are forgotten."""

PAIR_WAIT_S = 0.2
"""So long after a picture its camera_info may still come."""


@dataclass(frozen=True)
class CameraFrame:
    """A picture as it came, not decoded.

    Attributes:
        stamp_ns: when it was exposed: its stamp less the camera's latency, in ns of the ROS clock.
        message: Image or CompressedImage.
        info: its camera_info.
    """

    stamp_ns: int
    message: Any
    info: CameraInfo


@dataclass(frozen=True)
class _Kept:
    stamp_ns: int  # of the message
    arrived: float
    message: Any


class CameraFrames:
    """Pictures and calibrations by their stamps; not thread-safe.

    Args:
        latency_s: by how much stamps are later than the exposure.
        max_age_s: a picture that comes so long after its exposure is refused.

    Attributes:
        latency_ns: may be changed at any time.
        refusal: why the last picture was refused; empty: it was not.
        unpaired: the last picture that was given out has another's calibration, as none of its own came.
    """

    def __init__(self, latency_s: float, max_age_s: float) -> None:
        self.latency_ns = round(latency_s * NS)
        self._max_age_ns = round(max_age_s * NS)
        self._kept: deque[_Kept] = deque(maxlen=KEPT_PICTURES)
        self._infos: deque[CameraInfo] = deque(maxlen=KEPT_INFOS)
        self._pairs = True
        self.refusal = ""
        self.unpaired = False

    def add(self, message: Any, now_ns: int) -> bool:
        """Keep a picture that has just come, if its stamp can be right; return whether.

        Args:
            message: Image or CompressedImage.
            now_ns: of the node's clock.
        """
        stamp_ns = time_ns(message.header.stamp)
        self.refusal = self._objection(stamp_ns, now_ns)
        if self.refusal:
            return False
        if self._kept and stamp_ns < self._kept[-1].stamp_ns - CLOCK_JUMP_S * NS:
            self._kept.clear()
            self._infos.clear()
        self._kept.append(_Kept(stamp_ns, time.monotonic(), message))
        return True

    def add_info(self, info: CameraInfo) -> None:
        """Keep a calibration."""
        self._infos.append(info)

    @property
    def newest_ns(self) -> int | None:
        """When the newest picture was exposed."""
        return max((kept.stamp_ns - self.latency_ns for kept in self._kept), default=None)

    def first(self, stamp_ns: int) -> CameraFrame | None:
        """Return the earliest picture exposed at that moment or later; None also while its calibration may yet come."""
        later = [kept for kept in self._kept if kept.stamp_ns - self.latency_ns >= stamp_ns]
        return self._frame(min(later, key=lambda kept: kept.stamp_ns)) if later else None

    def last(self) -> CameraFrame | None:
        """Return the newest picture that has a calibration."""
        for kept in sorted(self._kept, key=lambda kept: kept.stamp_ns, reverse=True):
            frame = self._frame(kept)
            if frame is not None:
                return frame
        return None

    def in_time(self, exposed_ns: int, now_ns: int) -> bool:
        """Return whether a picture exposed at one moment may be shown at another."""
        return -AHEAD_S * NS <= now_ns - exposed_ns <= self._max_age_ns

    @property
    def last_info(self) -> CameraInfo | None:
        """The calibration that came last."""
        return self._infos[-1] if self._infos else None

    def lacks_info(self) -> str:
        """Say which calibration is missing for the newest picture; empty: none, or there is no picture."""
        if not self._kept:
            return ""
        newest = self._kept[-1]
        if self._own_info(newest) or self._info_of(newest.message.header.frame_id):
            return ""
        frames = sorted({str(info.header.frame_id) for info in self._infos})
        if not frames:
            return "no camera_info comes"
        return (
            f"camera_info is of the frame {', '.join(map(repr, frames))} and of other stamps, the pictures are of"
            f" {newest.message.header.frame_id!r}"
        )

    def _own_info(self, kept: _Kept) -> CameraInfo | None:
        return next((info for info in self._infos if time_ns(info.header.stamp) == kept.stamp_ns), None)

    def _info_of(self, frame_id: str) -> CameraInfo | None:
        return next((info for info in reversed(self._infos) if info.header.frame_id == frame_id), None)

    def _frame(self, kept: _Kept) -> CameraFrame | None:
        own = self._own_info(kept)
        if own is not None:
            self._pairs, self.unpaired = True, False
            return CameraFrame(kept.stamp_ns - self.latency_ns, kept.message, own)
        # Once a picture went without, the others are not kept waiting, until one comes with its own again.
        if self._pairs and time.monotonic() - kept.arrived < PAIR_WAIT_S:
            return None
        other = self._info_of(kept.message.header.frame_id)
        if other is None:
            return None
        self._pairs, self.unpaired = False, True
        return CameraFrame(kept.stamp_ns - self.latency_ns, kept.message, other)

    def _objection(self, stamp_ns: int, now_ns: int) -> str:
        """Return what is wrong with a stamp at its arrival."""
        if stamp_ns == 0:
            return "they carry no stamp (0): the driver must fill in header.stamp"
        age_ns = now_ns - (stamp_ns - self.latency_ns)
        if self.in_time(stamp_ns - self.latency_ns, now_ns):
            return ""
        if now_ns == 0:
            return "this node has use_sim_time set, but no time comes on /clock"
        seconds = abs(age_ns) / NS
        where = f"{seconds:.2f} s old when they come" if age_ns > 0 else f"stamped {seconds:.2f} s in the future"
        return (
            f"they are {where}: the camera's clock and this node's differ (synchronise the computers, with chrony for"
            " example, and give use_sim_time to all nodes or to none), or the pictures are held up on their way"
        )
