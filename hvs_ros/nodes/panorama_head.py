"""A head inside a panorama: it turns a camera in a 360 degree picture and offers the whole head contract.

Threading. Everything runs in the executor's threads. A move waits in a thread of its own (``head_moves``), views are
made one at a time under the camera's lock (``head_camera``) by whoever needs one: the end of a move, a changed scene,
the ``publish_rate`` timer, a new subscriber. ``load_scene`` decodes in its own callback group, so the head stays
controllable meanwhile and shows the old scene until the new one is ready. Motion and stamps follow the ROS clock.

Without a scene the node runs all the same: it says so on /diagnostics and refuses moves with the reason. It is a
managed node (``managed``): inactive, it tells where it looks and refuses moves and scenes, and no view leaves it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from hvs_interfaces.action import MoveHead
from hvs_interfaces.msg import HeadCapabilities
from hvs_interfaces.srv import LoadScene
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from std_msgs.msg import String

from hvs_ros import angles
from hvs_ros.neck.gaze import Gaze
from hvs_ros.neck.limits import GazeLimits
from hvs_ros.neck.simulated import SimulatedNeck
from hvs_ros.nodes import convert
from hvs_ros.nodes.diagnostics import ERROR, OK, WARN
from hvs_ros.nodes.head_camera import HeadCamera, ViewError
from hvs_ros.nodes.head_moves import MoveServer
from hvs_ros.nodes.head_parameters import HeadParameters
from hvs_ros.nodes.head_state import StatePublisher
from hvs_ros.nodes.managed import ManagedNode
from hvs_ros.nodes.parameters import declare
from hvs_ros.nodes.process import run_node
from hvs_ros.nodes.qos import latched
from hvs_ros.panorama.surroundings import Surroundings, SurroundingsError, Workshop

NO_SCENE = "no scene: call load_scene, or start the head with the parameter 'scenes'"
BRAKE_LIMIT_S = 2.0
"""Longest wait for rest when the node is deactivated or ends."""


class PanoramaHead(ManagedNode):
    """The node."""

    def __init__(self) -> None:
        super().__init__("panorama_head", hardware_id="panorama head")
        self._settings = declare(self, HeadParameters, on_change=self._on_parameters, fixed=self.fixed)
        self.autostart()

    def setup(self) -> None:
        """Make the head, and enter the first scene."""
        p = self._settings
        self._limits = p.limits()
        self._lens = p.camera()
        start = self._limits.direction(p.start_yaw, p.start_pitch, now=0.0)
        neck = SimulatedNeck(start.yaw, start.pitch, p.motion_limits())
        self._gaze = Gaze(neck, self._limits, lambda: int(self.get_clock().now().nanoseconds), p.settle_time)
        self._workshop = Workshop(p.scenes, self._lens, p.checked_sampling, p.supersample, p.cache_mb)
        self._scene = ""
        self._obstacle = NO_SCENE
        self._state = StatePublisher(self, p.base_frame, p.gaze_frame, p.optical_frame, self._gaze.joint_names)
        self._description = self.create_publisher(String, "robot_description", latched())
        self._description.publish(String(data=p.description()))
        self._camera = HeadCamera(self, p, self._lens, self._gaze, self._state)
        self._capabilities = self.create_publisher(HeadCapabilities, "capabilities", latched())
        self._enter_first_scene()
        self._moves = MoveServer(
            self,
            self._gaze,
            self._state,
            reject=p.out_of_range == "reject",
            timeout_s=p.move_timeout,
            obstacle=lambda: self.refusal or self._obstacle,
            shoot=lambda _: self._camera.shoot(),
            on_end=self._on_move_end,
        )
        self.create_service(LoadScene, "load_scene", self._load_scene, callback_group=MutuallyExclusiveCallbackGroup())
        self.create_timer(
            1.0 / p.pose_rate,
            lambda: self._state.publish(self._gaze.now()),
            callback_group=MutuallyExclusiveCallbackGroup(),
        )

    def start(self) -> None:
        """Show views, and move when asked to."""
        self._camera.switch(on=True)
        self._camera.offer()

    def halt(self) -> None:
        """End the move under way; the head holds, and shows nothing more."""
        self._moves.halt(f"{self.halt_reason}; the head holds where it is")
        end = time.monotonic() + BRAKE_LIMIT_S
        while not self._gaze.progress().settled and time.monotonic() < end:
            time.sleep(0.01)
        self._camera.switch(on=False)

    def _enter_first_scene(self) -> None:
        p = self._settings
        try:
            surroundings = self._workshop.first(p.scene)
        except SurroundingsError as error:
            self._obstacle = f"no scene: {error}"
            self.get_logger().error(self._obstacle)
            self.say(ERROR, self._obstacle)
        else:
            if surroundings is not None:
                heading = angles.ros_turn(surroundings.sampler.panorama.heading_deg)
                start = self._limits.direction(p.start_yaw + heading, p.start_pitch, now=0.0)
                if start.beyond:
                    self.get_logger().warning(f"start direction: {start.beyond}; the nearest one is taken")
                self._enter(surroundings, (start.yaw, start.pitch))
                return
            self.get_logger().warning(NO_SCENE)
            self.say(WARN, NO_SCENE)
        self._publish_capabilities()

    def _enter(self, surroundings: Surroundings, start: tuple[float, float]) -> None:
        self._camera.change(surroundings, lambda: self._gaze.place(*start))
        self._scene, self._obstacle = surroundings.name, ""
        self._publish_capabilities()
        self.get_logger().info(f"in scene '{surroundings.name}' ({surroundings.picture})")
        self.say(OK, f"in scene '{surroundings.name}'", picture=surroundings.picture)

    def _load_scene(self, request: LoadScene.Request, response: LoadScene.Response) -> LoadScene.Response:
        response.message = self._try_scene(request)
        shot = None
        if not response.message:
            try:
                shot = self._camera.shoot()  # before the answer
            except ViewError as error:
                response.message = str(error)
        if response.message:
            self.get_logger().warning(f"load_scene: {response.message}")
        response.success = not response.message
        moment = shot or self._gaze.now()
        response.scene = self._scene
        response.pose = self._state.pose(moment)
        response.view_stamp = convert.time_message(moment.stamp_ns)
        return response

    def _try_scene(self, request: LoadScene.Request) -> str:
        """Enter the scene and return an empty text, or stay in the old one and return why."""
        if self.refusal:
            return self.refusal
        if not convert.is_finite(request.yaw, request.pitch):
            return f"the start direction is not a number: yaw {request.yaw}, pitch {request.pitch}"
        reach = self._limits.direction(request.yaw, request.pitch, now=0.0)
        if reach.beyond and self._settings.out_of_range == "reject":
            return f"the start direction is out of range: {reach.beyond}"
        try:
            surroundings = self._workshop.find(request.scene)
        except SurroundingsError as error:
            return str(error)
        start = (reach.yaw, reach.pitch)
        self._moves.interrupt(f"the scene changes to '{surroundings.name}'", lambda: self._enter(surroundings, start))
        return ""

    def _publish_capabilities(self) -> None:
        p, limits = self._settings, self._limits
        message = HeadCapabilities(
            header=convert.header(self.get_clock().now().nanoseconds, p.base_frame),
            kind=HeadCapabilities.KIND_PANORAMA,
            name=self.get_fully_qualified_name(),
            scene=self._scene,
            view=p.view,
            yaw_continuous=limits.yaw_continuous,
            pitch_min=limits.pitch_min,
            pitch_max=limits.pitch_max,
            out_of_range=HeadCapabilities.REJECT if p.out_of_range == "reject" else HeadCapabilities.CLAMP,
            width=self._lens.width,
            height=self._lens.height,
            hfov=abs(angles.ros_turn(self._lens.hfov_deg)),
            gaze_frame=p.gaze_frame,
            optical_frame=p.optical_frame,
        )
        round_about = GazeLimits()
        yaw = round_about if limits.yaw_continuous else limits
        message.yaw_min, message.yaw_max = yaw.yaw_min, yaw.yaw_max
        if p.motion == "profile":
            message.max_velocity, message.max_acceleration = p.max_velocity, p.max_acceleration
        self._capabilities.publish(message)

    def _on_move_end(self, outcome: int, message: str) -> None:
        if outcome in (MoveHead.Result.REFUSED, MoveHead.Result.NOT_SETTLED, MoveHead.Result.FAULT):
            self.get_logger().warning(f"move: {message}")
        if outcome == MoveHead.Result.FAULT:
            self.say(ERROR, f"the last move failed: {message}")
        elif outcome in (MoveHead.Result.REACHED, MoveHead.Result.CLAMPED):
            self.say(OK, f"in scene '{self._scene}'")

    def _on_parameters(self, new: HeadParameters) -> None:
        if self.configured:
            if new.publish_rate != self._settings.publish_rate:
                self._camera.publisher.set_rate(new.publish_rate)
            self._camera.publisher.jpeg_quality = new.jpeg_quality
        self._settings = new


def main(args: Sequence[str] | None = None) -> int:
    """Run the node as a process."""
    return run_node(PanoramaHead, args)


if __name__ == "__main__":
    sys.exit(main())
