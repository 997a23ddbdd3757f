"""A head behind the graph, as the search loop needs it: turn, and then look.

Threading. ``turn_to`` and ``look`` are called by the search's own thread and wait on one condition; the executor's
threads fill in what arrives (pictures, capabilities, answers of the move action) and notify it. Every wait has a limit,
and a ``Stop`` ends it at once; when that happens in the middle of a move, the move is canceled, so that the head holds.

What a view shows is known from the move before it: its result says where the head looks, and from which stamp on
pictures show that. A picture from before that moment is never used. The first view of a search comes after a move by
nothing. A search is in the scene of its first view: what the head said of its scene before that may be about an earlier
one, or about a head that is gone.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace

from hvs_interfaces.action import MoveHead
from hvs_interfaces.msg import HeadCapabilities, HeadPose
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

from hvs_ros.angles import Direction, ros_angles, search_turn_deg
from hvs_ros.image_encodings import ImageError
from hvs_ros.nodes.camera_info import info_camera
from hvs_ros.nodes.convert import NS, pose_direction
from hvs_ros.nodes.head_mover import HeadLimits, HeadMover
from hvs_ros.nodes.qos import latched
from hvs_ros.nodes.search_stop import Stop
from hvs_ros.nodes.search_views import Shot, ViewTopics
from hvs_ros.panorama.camera import CameraError
from hvs_ros.search.episode import Outcome, SearchFailure
from hvs_ros.search.view import Arrival, MoveOutcome, View

ROUND_S = 0.5
"""A view is waited for in rounds of this length, to look at other things in between."""
CAPABILITIES_LIMIT_S = 2.0
NO_IMAGE_S = 5.0
"""After so long without any picture the log names the publishers."""
ASK_AGAIN_S = 2.0
"""A view that was published just before somebody listened is asked for once more."""
SHORT_DEG = 3.0
"""A head that says REACHED so far from the goal is not believed without a word."""
LEAD_NS = NS
"""A picture stamped so far ahead of the head's own time is not one of this moment."""


class HeadClient:
    """Implements ``hvs_ros.search.loop.Head`` on the head contract's topics and action.

    Args:
        node: spun by a multi-threaded executor.
        head: prefix of the head's names.
        transport: of the pictures, "raw" or "compressed".
        limits: how long it may take.
        changed: what everything here waits on.

    Attributes:
        optical_frame: of the last view.
    """

    def __init__(
        self, node: Node, head: str, transport: str, limits: HeadLimits, changed: threading.Condition
    ) -> None:
        self._log = node.get_logger()
        self._limits = limits
        self._changed = changed
        self._mover = HeadMover(node, f"{head}/move", limits, changed)
        self._views = ViewTopics(node, head, transport, changed)
        node.create_subscription(
            HeadCapabilities,
            f"{head}/capabilities",
            self._on_capabilities,
            latched(),
            callback_group=MutuallyExclusiveCallbackGroup(),
        )
        self._capabilities: HeadCapabilities | None = None
        self._scene: str | None = None
        self._looked = False
        self._stop: Stop | None = None
        self._received_before = 0
        self._silent = False
        self.optical_frame = ""

    @property
    def base_frame(self) -> str:
        """The frame that the head's angles refer to; empty while it is not known."""
        if self._capabilities is not None:
            return str(self._capabilities.header.frame_id)
        return str(self.pose.header.frame_id)

    @property
    def pose(self) -> HeadPose:
        """Where the head was last heard to be; its stamp is zero before the first move of a search."""
        return self._mover.pose

    @property
    def present(self) -> bool:
        """A head is in the graph."""
        return self._mover.present

    def begin(self, stop: Stop) -> None:
        """Begin a search that ``stop`` may end."""
        with self._changed:
            if not self.present:
                self._capabilities = None
            self._scene, self._looked = None, False
            self._stop, self._received_before, self.optical_frame = stop, 0, ""
        self._mover.begin(stop)
        self._views.listen(True)
        self._views.match()

    def end(self) -> None:
        """The search is over; pictures are no longer kept."""
        with self._changed:
            self._stop = None
        self._mover.end()
        self._views.listen(False)

    def close(self) -> None:
        """Destroy what rclpy does not know that the node owns."""
        self._mover.close()

    def turn_to(self, goal: Direction, max_velocity: float = 0.0) -> Arrival:
        """Turn and wait until the move has ended.

        Args:
            goal: where to look.
            max_velocity: rad/s, slows this move down; 0: as fast as the head does by itself.

        Raises:
            SearchFailure: no head answers, or the search was stopped.
        """
        yaw, pitch = ros_angles(goal)
        self._received_before = self._views.received
        arrival = self._mover.move(
            MoveHead.Goal(mode=MoveHead.Goal.ABSOLUTE, yaw=yaw, pitch=pitch, max_velocity=max_velocity)
        )
        short = goal.angle_to_deg(arrival.direction)
        if arrival.outcome is MoveOutcome.REACHED and short > SHORT_DEG:
            text = f"the head says REACHED, but looks at {arrival.direction}, {short:.1f} degrees off the goal {goal}"
            self._log.warning(text)
            arrival = replace(arrival, message="; ".join(part for part in (arrival.message, text) if part))
        return arrival

    def look(self) -> View:
        """Return the first view since the last move, however it ended.

        Raises:
            SearchFailure: there is none, no head answers, or the search was stopped.
        """
        if self._looked:
            return self._look()
        while True:
            before = self._scene_now()
            view = self._look()
            with self._changed:
                now = self._scene_now()
                if before in (None, now):
                    self._scene, self._looked = now, True
                    return view
            # The scene has changed meanwhile: the view may be of the one before.
            self._mover.moved = replace(self._mover.moved, view_ns=None)

    def _scene_now(self) -> str | None:
        return None if self._capabilities is None else str(self._capabilities.scene)

    def _look(self) -> View:
        if self._mover.moved.view_ns is None:
            self._ask()
            self._await_capabilities()
        began = asked = time.monotonic()
        warned, unusable = False, ""
        lone: Shot | None = None
        while True:
            shot = self._shot()
            # A picture without its camera_info gets a second round.
            if shot is not None and (shot.info is not None or lone is not None):
                try:
                    return self._view(shot)
                except ImageError as error:
                    unusable = f"; a picture of it could not be used: {error}"
                    self._views.forget(shot)
            lone = shot
            now = time.monotonic()
            if now - began > NO_IMAGE_S and not warned and self._views.received == self._received_before:
                warned = True
                self._log.warning(f"no picture for {NO_IMAGE_S:g} s: {self._views.describe()}")
            if now - began > self._limits.view_s:
                raise SearchFailure(Outcome.VIEW_TIMEOUT, self._why_no_view() + unusable)
            if now - asked > ASK_AGAIN_S:
                self._views.match()
                since = self._mover.moved.view_ns
                self._ask()
                # The head has not moved: a late picture from before this request shows the direction as well.
                self._mover.moved = replace(self._mover.moved, view_ns=since)
                asked = time.monotonic()

    def _ask(self) -> None:
        """Have the head show a view of where it looks: by a move by nothing."""
        arrival = self._mover.move(MoveHead.Goal(mode=MoveHead.Goal.RELATIVE))
        if not arrival.outcome.arrived:
            raise SearchFailure(
                Outcome.HEAD_FAILED, f"the head shows no view: {arrival.outcome.name}: {arrival.message}"
            )

    def _await_capabilities(self) -> None:
        """Give the head a moment to say in which scene it is: a change could not be noticed otherwise."""
        end = time.monotonic() + CAPABILITIES_LIMIT_S
        with self._changed:
            while self._capabilities is None and not self._silent and time.monotonic() < end:
                self._mover.check_stop()
                self._changed.wait(end - time.monotonic())
            if self._capabilities is None and not self._silent:
                self._silent = True
                self._log.warning("the head publishes no capabilities; whether its scene changes cannot be seen")

    def _shot(self) -> Shot | None:
        """Wait a moment for a view that may be used."""
        earliest = (self._mover.moved.view_ns or 0) + round(self._limits.settle_s * NS)
        until = time.monotonic() + ROUND_S
        with self._changed:
            while True:
                self._mover.check_stop()
                shot = self._views.first(earliest, self._mover.moved.now_ns() + LEAD_NS)
                left = until - time.monotonic()
                if left <= 0 or (shot is not None and shot.info is not None):
                    return shot
                self._changed.wait(left)

    def _view(self, shot: Shot) -> View:
        image = self._views.picture(shot)
        self.optical_frame = shot.message.header.frame_id
        return View(
            image=image,
            direction=pose_direction(self.pose),
            stamp_ns=shot.stamp_ns,
            hfov_deg=self._hfov_deg(shot),
            made="" if self._capabilities is None else self._capabilities.view,
        )

    def _hfov_deg(self, shot: Shot) -> float:
        info = shot.info or self._views.last_info
        if info is not None:
            if shot.info is None:
                self._log.warning("no camera_info has the stamp of the picture; the last one is used", once=True)
            try:
                return info_camera(info).hfov_deg
            except CameraError as error:
                self._log.warning(f"camera_info: {error}; the head's capabilities are used", once=True)
        if self._capabilities is not None and self._capabilities.hfov > 0.0:
            return abs(search_turn_deg(self._capabilities.hfov))
        raise SearchFailure(
            Outcome.VIEW_TIMEOUT,
            "the field of view is not known: no usable camera_info, and no hfov in the head's capabilities;"
            f" {self._views.describe_info()}",
        )

    def _why_no_view(self) -> str:
        text = f"the head is at rest, but no view of it arrived within {self._limits.view_s:g} s: "
        with self._changed:
            newest = self._views.newest_ns
            if newest is None or self._views.received == self._received_before:
                return text + self._views.describe()
            off = (newest - (self._mover.moved.view_ns or 0)) / NS
        when = f"{-off:.2f} s before" if off < 0 else f"{off:.2f} s after"
        return (
            f"{text}the newest picture is stamped {when} the moment from which pictures show the direction;"
            " do the camera and the head use the same clock?"
        )

    def _on_capabilities(self, capabilities: HeadCapabilities) -> None:
        with self._changed:
            self._capabilities = capabilities
            self._changed.notify_all()
            stop, before = self._stop, self._scene
            if self._looked and before is None:
                self._scene = capabilities.scene
        if stop is not None and before is not None and before != capabilities.scene:
            stop.set(Outcome.SCENE_CHANGED, f"the head is in scene '{capabilities.scene}' now; it was in '{before}'")
