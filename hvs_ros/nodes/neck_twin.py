"""A stand-in for a robot's neck and camera: MuJoCo moves its joints, a panorama is what it sees.

It offers what a robot's drivers offer, under the names of the robot's file: joint_states, camera, robot_description,
the controllers of neck and torso, and a base that turns. What goes wrong on robots goes wrong here on demand, switched
by parameters while it runs.

Threading. Everything runs in the executor's threads; the twin has a lock of its own and is simulated up to whatever
moment it is asked about. Motion and stamps follow the ROS clock.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from hvs_interfaces.msg import HeadPose
from hvs_interfaces.srv import LoadScene
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from hvs_ros.mock.twin.physics import TwinError
from hvs_ros.mock.twin.twin import Twin, gaze_of
from hvs_ros.mock.twin.urdf_chain import cut_chain
from hvs_ros.neck.joints import JointSample
from hvs_ros.neck.robot import NeckJoint, RobotError
from hvs_ros.nodes import convert
from hvs_ros.nodes.convert import NS
from hvs_ros.nodes.diagnostics import OK, WARN, Diagnostics
from hvs_ros.nodes.parameters import ParameterError, declare
from hvs_ros.nodes.process import run_node
from hvs_ros.nodes.qos import latched
from hvs_ros.nodes.twin_base import TwinBase
from hvs_ros.nodes.twin_camera import TwinImages
from hvs_ros.nodes.twin_controllers import TwinControllers
from hvs_ros.nodes.twin_parameters import TwinParameters
from hvs_ros.panorama.surroundings import Surroundings, SurroundingsError, Workshop

NO_SCENE = "no scene: call load_scene, or start the twin with the parameter 'scenes'; there are no pictures"
RESTING = 0.02
"""rad/s; a joint that is slower rests."""


class NeckTwin(Node):
    """The node."""

    def __init__(self) -> None:
        super().__init__("neck_twin")
        self._settings = declare(self, TwinParameters, on_change=self._on_parameters)
        p = self._settings
        robot = self._robot = p.load()
        urdf = p.description(robot)
        self._diagnostics = Diagnostics(self, robot.name)
        known = {joint.name: joint for joint in robot.joints}
        chain = cut_chain(urdf, robot)
        self._joints = [known.get(name, NeckJoint(name)) for name in chain.joints]
        self._complaint = self._scene = ""
        self._twin = Twin(chain, robot.turn, self._now(), delay_ns=round(p.command_delay * NS))
        self._set_faults(p)
        self._workshop = Workshop(p.scenes, p.camera(), "exact", 1, p.cache_mb)
        self._images = TwinImages(self, lambda: self._settings, robot.camera, self._twin)
        self._enter_first_scene()
        self._description = self.create_publisher(String, robot.robot_description, latched())
        self._description.publish(String(data=urdf))
        self._truth = self.create_publisher(HeadPose, "~/truth", 10)
        self._controllers = TwinControllers(self, robot, self._twin, lambda: self._settings, self._complain)
        told = self._controllers.tells
        self._told = [(i, joint) for i, joint in enumerate(self._joints) if joint.name in told]
        self._states = self.create_publisher(JointState, robot.joint_states, 10) if told else None
        if p.base:
            TwinBase(self, robot, self._twin)
        self.create_service(LoadScene, "load_scene", self._load_scene, callback_group=MutuallyExclusiveCallbackGroup())
        self.create_timer(1.0 / p.joint_rate, self._publish, callback_group=MutuallyExclusiveCallbackGroup())
        offered = ", ".join(self._controllers.offered)
        self.get_logger().info(f"stands in for '{robot.name}' ({', '.join(chain.joints)}), commanded by {offered}")
        self._report()

    def close(self) -> None:
        """End what is under way."""
        self._controllers.close()
        self._diagnostics.set(WARN, "shut down")

    def destroy_node(self) -> None:
        """Remove what rclpy does not know the node owns, then the node."""
        self._controllers.destroy()
        super().destroy_node()

    def _now(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    def _publish(self) -> None:
        now = self._twin.state(self._now())
        if self._states is not None and not self._settings.dead_joint_states:
            message = JointState(header=convert.header(now.stamp_ns, ""))
            message.name = [joint.wire_name for _, joint in self._told]
            message.position = [joint.to_driver(now.position[i]) for i, joint in self._told]
            message.velocity = [joint.sign * now.velocity[i] for i, joint in self._told]
            self._states.publish(message)
        if self._truth.get_subscription_count():
            self._truth.publish(self._pose(now))

    def _pose(self, now: JointSample) -> HeadPose:
        gaze = gaze_of(self._twin.in_base(now.stamp_ns), self._robot.camera.turned)
        resting = max(map(abs, now.velocity)) < RESTING
        return convert.pose_message(gaze, now.stamp_ns, self._robot.base.name, settled=resting)

    def _enter_first_scene(self) -> None:
        try:
            surroundings = self._workshop.first(self._settings.scene)
        except SurroundingsError as error:
            self._complain(f"no scene: {error}")
            return
        if surroundings is None:
            self.get_logger().warning(NO_SCENE)
        else:
            self._enter(surroundings)

    def _enter(self, surroundings: Surroundings) -> None:
        self._images.surround(surroundings.sampler.panorama)
        self._scene = surroundings.name
        self.get_logger().info(f"in scene '{surroundings.name}' ({surroundings.picture})")

    def _load_scene(self, request: LoadScene.Request, response: LoadScene.Response) -> LoadScene.Response:
        try:
            self._enter(self._workshop.find(request.scene))
        except SurroundingsError as error:
            response.message = str(error)
            self.get_logger().warning(f"load_scene: {error}")
        response.success = not response.message
        response.scene = self._scene
        now = self._twin.state(self._now())
        response.pose = self._pose(now)
        response.view_stamp = convert.time_message(now.stamp_ns)
        self._report()
        return response

    def _on_parameters(self, new: TwinParameters) -> None:
        self._set_faults(new)
        self._settings = new
        self._report()

    def _set_faults(self, new: TwinParameters) -> None:
        if new.joint_faults() == self._twin.faults:
            return
        try:
            self._twin.set_faults(self._now(), new.joint_faults())
        except ValueError as error:
            raise ParameterError(f"parameter 'stuck_joint': {error}") from error

    def _complain(self, text: str) -> None:
        """Say what a user of the twin did wrong."""
        self.get_logger().warning(text, throttle_duration_sec=1.0)
        self._complaint = text
        self._report()

    def _report(self) -> None:
        faults = self._settings.faults()
        problem = "; ".join(
            filter(None, ("" if self._scene else NO_SCENE, f"on purpose: {faults}" if faults else "", self._complaint))
        )
        self._diagnostics.set(WARN if problem else OK, problem or f"in scene '{self._scene}'")


def main(args: Sequence[str] | None = None) -> int:
    """Run the node as a process."""
    return run_node(NeckTwin, args, known=(RobotError, TwinError))


if __name__ == "__main__":
    sys.exit(main())
