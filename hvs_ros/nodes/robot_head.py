"""A robot's neck and camera as a head: the whole head contract, on real joints.

What the robot is comes from its YAML and its URDF. Until the URDF, joint states and pictures are there, the node says
on /diagnostics what it waits for, by topic, and refuses moves with the same words.

Threading. Everything runs in the executor's threads. A move waits in a thread of its own (``head_moves``) and looks
every few milliseconds at what joint states have made of it (``neck.robot_gaze``); pictures are stored as they come
(``robot_camera``) and made into views by whoever needs one (``robot_views``). A stop acts in the callback that hears
it.

Safety. Nothing is commanded before the node is active, ``confirm`` is set, no stop is engaged and fresh joint states
are there. On a stop, a cancellation, a deactivation, a silent commander, silent joint states or the node's end, the
neck is told to hold where it is.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence

from hvs_interfaces.action import MoveHead
from hvs_interfaces.msg import HeadCapabilities
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from std_msgs.msg import String

from hvs_ros import angles
from hvs_ros.mock.twin.stand_in import stand_in
from hvs_ros.neck.commands import CommandError
from hvs_ros.neck.robot import RobotError
from hvs_ros.neck.robot_description import read_urdf
from hvs_ros.neck.robot_file import load_robot, robot_names
from hvs_ros.neck.sign_check import velocity_scale
from hvs_ros.nodes import convert
from hvs_ros.nodes.diagnostics import ERROR, OK, WARN
from hvs_ros.nodes.head_moves import MoveServer
from hvs_ros.nodes.head_state import StatePublisher
from hvs_ros.nodes.managed import ManagedNode
from hvs_ros.nodes.parameters import ParameterError, declare
from hvs_ros.nodes.process import StartError, run_node
from hvs_ros.nodes.qos import latched
from hvs_ros.nodes.robot_assembly import RobotAssembly
from hvs_ros.nodes.robot_camera import RobotCamera
from hvs_ros.nodes.robot_parameters import RobotHeadParameters
from hvs_ros.nodes.robot_safety import SafetyStop, Stops
from hvs_ros.nodes.robot_views import RobotViews
from hvs_ros.nodes.unready_neck import UnreadyNeck
from hvs_ros.panorama.camera import Camera
from hvs_ros.share import user_path

BRAKE_LIMIT_S = 2.0
"""Longest wait for rest when the node is deactivated or ends."""
WATCH_PERIOD_S = 0.1


class RobotHead(ManagedNode):
    """The node."""

    known = (RobotError, CommandError)

    def __init__(self) -> None:
        super().__init__("robot_head", hardware_id="robot head")
        self._settings = declare(self, RobotHeadParameters, on_change=self._on_parameters, fixed=self.fixed)
        self._stops = Stops()
        self._assembly: RobotAssembly | None = None
        self._views: RobotViews | None = None
        self.autostart()

    def setup(self) -> None:
        """Read the robot's YAML, offer the head contract, and wait for the robot."""
        p = self._settings
        if not p.robot:
            raise StartError(f"parameter 'robot' is empty: give one of {', '.join(robot_names())}, or a YAML file")
        robot = load_robot(p.robot).in_namespace(p.driver_namespace)
        self._robot = robot = stand_in(robot) if p.kind == "twin" else robot
        self._scale = p.velocity_scale or (velocity_scale(robot) if p.kind == "robot" else 1.0)
        p.permitted()  # nonsense is told at once, not when the robot appears
        self._assembly = self._views = None
        self._view: tuple[Camera | None, str] = (p.target(), "")
        self._urdf_problem, self._fault = "", ""
        latency = robot.camera.latency if p.camera_latency < 0.0 else p.camera_latency
        self._camera = RobotCamera(self, robot.camera, p.target(), latency_s=latency)
        self.on_teardown(self._camera.close)
        base_in = (robot.base.link, robot.base.rpy) if robot.base.name != robot.base.link else None
        self._state = StatePublisher(self, robot.base.name, p.gaze_frame, p.optical_frame, (), base_in)
        self._description = self.create_publisher(String, "robot_description", latched())
        self._capabilities = self.create_publisher(HeadCapabilities, "capabilities", latched())
        self._safety = SafetyStop(self, self._stop_at_once, self._stops)
        self._moves = MoveServer(
            self,
            UnreadyNeck(lambda: int(self.get_clock().now().nanoseconds)),
            self._state,
            reject=p.out_of_range == "reject",
            timeout_s=p.move_timeout,
            obstacle=self._obstacle,
            shoot=lambda disturbed: None if self._views is None else self._views.shoot(disturbed),
            on_end=self._on_move_end,
        )
        group = MutuallyExclusiveCallbackGroup()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(WATCH_PERIOD_S, self._watch, callback_group=group, clock=steady)
        self.create_timer(1.0 / p.pose_rate, self._publish_state, callback_group=MutuallyExclusiveCallbackGroup())
        self._began = time.monotonic()
        if p.urdf:
            self._assemble(self._urdf_file(p.urdf))
        else:
            self.create_subscription(
                String, robot.robot_description, self._on_description, latched(), callback_group=group
            )

    def start(self) -> None:
        """Show views, and move when asked to."""
        if self._views is not None:
            self._views.switch(on=True)
            self._views.offer()

    def halt(self) -> None:
        """End the move under way; the neck holds, and nothing more is shown or commanded."""
        self._moves.halt(f"{self.halt_reason}; the head holds where it is")
        if self._assembly is not None:
            end = time.monotonic() + BRAKE_LIMIT_S
            while not self._assembly.gaze.stopped() and time.monotonic() < end:
                if problem := self._assembly.gaze.stop_problem():
                    self.get_logger().error(problem)
                    break
                time.sleep(0.01)
        if self._views is not None:
            self._views.switch(on=False)

    # The robot appears.

    def _on_description(self, message: String) -> None:
        if self._assembly is not None:
            if message.data != self._assembly.urdf:
                self.get_logger().warning(
                    f"{self._robot.robot_description} has changed; the first one is kept until the node is cleaned up"
                )
            return
        self._try_urdf(message.data)

    def _try_urdf(self, urdf: str) -> None:
        try:
            self._assemble(urdf)
        except (RobotError, CommandError, ImportError) as error:
            if str(error) != self._urdf_problem:
                self.get_logger().error(str(error))
            self._urdf_problem = str(error)

    def _urdf_file(self, name: str) -> str:
        try:
            return user_path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ParameterError(f"parameter 'urdf': {name} cannot be read: {error}") from error

    def _assemble(self, urdf: str) -> None:
        p = self._settings
        assembly = RobotAssembly(
            self,
            self._robot,
            urdf,
            p.rules(self._scale),
            permitted=p.permitted(),
            torso=p.use_torso,
            turn_base=p.turn_base,
        )
        self.on_teardown(assembly.close)
        self._assembly, self._urdf_problem = assembly, ""
        self._state.joint_names = assembly.gaze.joint_names
        self._moves.take_neck(assembly.gaze)
        self._description.publish(String(data=urdf))
        views = RobotViews(self, p, self._camera, assembly.gaze, self._state, self._on_view)
        views.switch(on=self.active)
        self._views = views
        self._publish_capabilities()
        self.get_logger().info(f"{self._robot.name}: {assembly.summary()}")
        if self._scale < 1.0:
            self.get_logger().warning(
                f"{self._robot.name} moves at {self._scale:g} of its velocity limits"
                + ("" if p.velocity_scale else ": its signs have not been checked, see `hvs check-signs`")
            )

    # What it says.

    def _waits_for(self) -> str:
        """Name what is still missing; empty: nothing."""
        missing = []
        if self._assembly is None:
            text = f"the robot's description on {self._robot.robot_description}"
            missing.append(f"{text} ({self._urdf_problem or 'nothing published yet'})")
        else:
            missing += self._assembly.missing()
        if self._camera.latest() is None:
            missing.append(f"pictures on {self._robot.camera.image} ({self._camera.problem() or 'none yet'})")
        return "; ".join(missing)

    def _obstacle(self) -> str:
        """Say why no goal may start; empty: it may."""
        if self.refusal:
            return self.refusal
        if engaged := self._safety.engaged:
            return engaged
        if waits := self._waits_for():
            return f"waiting for {waits}"
        if not self._settings.confirm:
            return (
                f"{self._robot.name} may not move yet: see that nothing is in its way, then set the parameter"
                f" 'confirm' of {self.get_fully_qualified_name()} (hvs real --confirm)"
            )
        return ""

    def _watch(self) -> None:
        if self._assembly is None and not self._settings.urdf:
            self._try_fallback()
        if not self.configured:
            return
        engaged, waits = self._safety.engaged, self._waits_for()
        if self._assembly is not None:
            self._watch_range(self._assembly)
        if engaged:
            self.say(ERROR, engaged)
        elif waits:
            self.say(WARN, f"waiting for {waits}")
        elif not self._settings.confirm:
            self.say(WARN, "ready, but may not move: the parameter 'confirm' is false")
        elif self._fault:
            self.say(ERROR, f"the last move failed: {self._fault}")
        else:
            scale = "" if self._scale == 1.0 else f", at {self._scale:g} of its velocities"
            self.say(OK, f"ready{scale}", camera_rate=f"{self._camera.rate:.0f}")

    def _watch_range(self, assembly: RobotAssembly) -> None:
        try:
            if assembly.watch():
                self.get_logger().info(f"what carries the neck has turned: {assembly.summary()}")
                self._publish_capabilities()
        except RobotError as error:
            self.get_logger().warning(str(error))

    def _try_fallback(self) -> None:
        """Take the URDF that the robot's YAML names, when nobody publishes one."""
        if time.monotonic() - self._began < self._settings.description_timeout or not self._robot.description.file:
            return
        # Once: what is in the file does not change. A description may still be published.
        self._began = math.inf
        try:
            urdf = read_urdf(self._robot.description)
        except RobotError as error:
            self._urdf_problem = str(error)
            return
        self.get_logger().warning(
            f"nobody publishes {self._robot.robot_description}; the URDF that the robot's YAML names is taken"
        )
        self._try_urdf(urdf)

    def _publish_state(self) -> None:
        assembly = self._assembly
        if assembly is not None and assembly.told:
            self._state.publish(assembly.gaze.now())

    def _publish_capabilities(self) -> None:
        p, assembly = self._settings, self._assembly
        if assembly is None:
            return
        limits, (camera, made) = assembly.range(), self._view
        message = HeadCapabilities(
            header=convert.header(self.get_clock().now().nanoseconds, self._robot.base.name),
            kind=p.kind,
            name=f"{self._robot.name} ({self.get_fully_qualified_name()})",
            scene=p.scene,
            view=made,
            yaw_continuous=limits.yaw_continuous,
            yaw_min=limits.yaw_min,
            yaw_max=limits.yaw_max,
            pitch_min=limits.pitch_min,
            pitch_max=limits.pitch_max,
            out_of_range=HeadCapabilities.REJECT if p.out_of_range == "reject" else HeadCapabilities.CLAMP,
            max_velocity=assembly.max_velocity,
            max_acceleration=assembly.max_acceleration,
            gaze_frame=p.gaze_frame,
            optical_frame=p.optical_frame if p.view == "policy" else self._robot.camera.frame,
        )
        if camera is not None:
            message.width, message.height = camera.width, camera.height
            # A fisheye that sees behind itself has no field of view that could be told.
            message.hfov = abs(angles.ros_turn(camera.hfov_deg)) if math.isfinite(camera.hfov_deg) else 0.0
        self._capabilities.publish(message)

    def _on_view(self, camera: Camera, made: str) -> None:
        if (camera, made) != self._view:
            self._view = camera, made
            self._publish_capabilities()

    # What happens to it.

    def _stop_at_once(self, why: str) -> None:
        self._hold()
        # Once more where no goal can come between: one that was just being accepted may have begun after the first.
        self._moves.interrupt(f"{why}; the head holds where it is", self._hold)

    def _hold(self) -> None:
        if self._assembly is not None and self.active:
            self._assembly.gaze.hold()

    def _on_move_end(self, outcome: int, message: str) -> None:
        result = MoveHead.Result
        if outcome == result.REFUSED:
            # Whoever does not listen asks again and again.
            self.get_logger().warning(f"move: {message}", throttle_duration_sec=1.0)
        elif outcome in (result.NOT_SETTLED, result.NO_RESPONSE, result.FAULT):
            self.get_logger().warning(f"move: {message}")
        if outcome in (result.NO_RESPONSE, result.FAULT):
            self._fault = message
        elif outcome in (result.REACHED, result.CLAMPED):
            self._fault = ""

    def _on_parameters(self, new: RobotHeadParameters) -> None:
        if self.configured:
            if self._views is not None:
                if new.publish_rate != self._settings.publish_rate:
                    self._views.publisher.set_rate(new.publish_rate)
                self._views.publisher.jpeg_quality = new.jpeg_quality
            if new.camera_latency != self._settings.camera_latency:
                self._camera.latency = self._robot.camera.latency if new.camera_latency < 0 else new.camera_latency
            if self._settings.confirm and not new.confirm:
                self._stop_at_once("'confirm' was taken back")
        self._settings = new


def main(args: Sequence[str] | None = None) -> int:
    """Run the node as a process."""
    return run_node(RobotHead, args)


if __name__ == "__main__":
    sys.exit(main())
