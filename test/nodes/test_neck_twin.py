"""The twin's node: what a robot's drivers offer, by topics, and what goes wrong on demand."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import Twist
from head_under_test import ABORTED, CANCELED, LATCHED, SUCCEEDED, GatedClient, seen_direction, write_panorama
from hvs_interfaces.msg import HeadPose
from hvs_interfaces.srv import LoadScene
from nav_msgs.msg import Odometry
from node_launcher import Launcher
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from ros_domain import claim_domain
from ros_graph import WAIT_S, Graph, wait_until
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from hvs_ros.neck.robot import RobotError
from hvs_ros.nodes.convert import duration_message, time_ns
from hvs_ros.nodes.images import from_image
from hvs_ros.nodes.parameters import ParameterError
from hvs_ros.nodes.twin_parameters import TwinParameters

pytest.importorskip("mujoco")

MODULE = "hvs_ros.nodes.neck_twin"
URDF = """<robot name='three'>
  <link name='base_link'/><link name='chest'/><link name='neck'/><link name='head'/><link name='camera_optical_frame'/>
  <joint name='waist' type='revolute'><origin xyz='0 0 0.8'/><parent link='base_link'/><child link='chest'/>
    <axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='9' velocity='2'/></joint>
  <joint name='pan' type='revolute'><parent link='chest'/><child link='neck'/>
    <axis xyz='0 0 1'/><limit lower='-2' upper='2' effort='9' velocity='2'/></joint>
  <joint name='tilt' type='revolute'><parent link='neck'/><child link='head'/>
    <axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='9' velocity='2'/></joint>
  <joint name='lens' type='fixed'><origin xyz='0.1 0 0' rpy='-1.5707963 0 -1.5707963'/><parent link='head'/>
    <child link='camera_optical_frame'/></joint></robot>"""
ROBOT = """
base: {link: base_link}
camera: {frame: camera_optical_frame, image: /cam/image, info: /cam/info}
neck:
  - {name: pan, driver_name: motor_1, sign: -1, offset: 0.25}
  - {name: tilt}
torso:
  - {name: waist}
joint_states: /states
description: {file: three.urdf}
commands: {backend: joint_trajectory, topic: /neck/joint_trajectory}
torso_commands: {backend: forward_position, topic: /torso/commands}
turn: {cmd_vel: /base/cmd_vel, odom: /base/odom}
"""
OFFSET = 0.25
"""Of pan, whose driver counts the other way round."""


def write_robot(folder: Path) -> Path:
    """Write a robot and two scenes; the second is turned by half a radian."""
    (folder / "three.urdf").write_text(URDF)
    (folder / "robot.yaml").write_text(ROBOT)
    write_panorama(folder / "scenes" / "a" / "panorama.png")
    write_panorama(folder / "scenes" / "b" / "panorama.png", turned=0.5)
    return folder / "robot.yaml"


class TwinClient:
    """What stands in a robot's place, as seen by whoever drives the robot."""

    def __init__(self, graph: Graph, root: str = "") -> None:
        self.graph, self.root = graph, root
        self.states = graph.collect(JointState, f"{root}/states")
        self.images = graph.collect(Image, f"{root}/cam/image")
        self.infos = graph.collect(CameraInfo, f"{root}/cam/info")
        self.truth = graph.collect(HeadPose, "/twin/neck_twin/truth")
        self.diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
        self._neck = graph.node.create_publisher(JointTrajectory, f"{root}/neck/joint_trajectory", 10)
        self._torso = graph.node.create_publisher(Float64MultiArray, f"{root}/torso/commands", 10)
        self.base = graph.node.create_publisher(Twist, f"{root}/base/cmd_vel", 10)

    def wait(self) -> TwinClient:
        publishers = (self._neck, self._torso, self.base)
        wait_until(lambda: all(publisher.get_subscription_count() for publisher in publishers), what="the controllers")
        wait_until(lambda: self.states and self.images and self.truth, what="states, pictures and the truth")
        return self

    def set(self, **values: Any) -> str:
        """Set parameters; return why they were refused."""
        request = SetParameters.Request(
            parameters=[Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
        )
        results = self.graph.call(SetParameters, "/twin/neck_twin/set_parameters", request).results
        return "; ".join(result.reason for result in results if not result.successful)

    def follow(self, time_s: float, **targets: float) -> None:
        """Send a trajectory of one point, in the driver's values."""
        self._neck.publish(trajectory(time_s, targets))

    def waist(self, *positions: float) -> None:
        self._torso.publish(Float64MultiArray(data=positions))

    def joints(self, message: JointState | None = None) -> dict[str, float]:
        """Return the last joint angles, in the driver's values."""
        message = message or self.states[-1]
        return dict(zip(message.name, message.position, strict=True))

    def settle(self, **targets: float) -> None:
        """Wait until joints rest at these angles."""

        def there() -> bool:
            last = self.states[-1]
            now, speed = self.joints(last), max(map(abs, last.velocity))
            return speed < 0.01 and all(abs(now[name] - angle) < 0.01 for name, angle in targets.items())

        wait_until(there, what=f"joints at {targets}, they are at {self.joints()}")

    def since(self, messages: list[Any], moment_ns: int | None = None) -> Any:
        """Wait for the first message with a stamp of now, or of a moment, or later."""
        begin = time.time_ns() if moment_ns is None else moment_ns
        return wait_until(
            lambda: next((m for m in messages if time_ns(m.header.stamp) >= begin), None), what="a new message"
        )

    def looks(self) -> tuple[float, float]:
        """Return the direction that the next picture shows [rad]."""
        return seen_direction(from_image(self.since(self.images)))

    def said(self, *words: str) -> DiagnosticStatus:
        """Wait for a diagnosis."""

        def find() -> DiagnosticStatus | None:
            statuses = [status for array in self.diagnostics for status in array.status]
            return next((s for s in reversed(statuses) if all(word in s.message for word in words)), None)

        return wait_until(find, what=f"diagnostics that say {words}")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwinClient]:
    folder = tmp_path_factory.mktemp("twin")
    robot = write_robot(folder)
    with claim_domain() as domain, Launcher(domain, folder) as launch, Graph(domain) as graph:
        launch(
            MODULE,
            namespace="twin",
            robot=str(robot),
            scenes=str(folder / "scenes"),
            scene_radius=0.0,
            width=160,
            height=120,
        )
        yield TwinClient(graph).wait()


@pytest.fixture
def twin(running: TwinClient) -> Iterator[TwinClient]:
    """The twin, with nothing wrong and its joints at 0."""
    yield running
    reason = running.set(
        drop_frames=0.0,
        late_frames=0.0,
        latency=0.03,
        short_by=0.0,
        stuck_joint="",
        **dict.fromkeys(
            ("arrival_stamps", "dead_camera", "dead_joint_states", "ignore_commands", "keep_moving"), False
        ),
    )
    assert not reason
    running.follow(0.2, motor_1=OFFSET, tilt=0.0)
    running.waist(0.0)
    wait_until(lambda: len(running.states) > 1 and abs(running.joints()["tilt"]) < 0.01)
    running.settle(motor_1=OFFSET, tilt=0.0, waist=0.0)


class TestDrivers:
    def test_a_trajectory_is_in_the_drivers_values(self, twin: TwinClient) -> None:
        twin.follow(0.3, motor_1=-0.35, tilt=0.2)
        twin.settle(motor_1=-0.35, tilt=0.2, waist=0.0)
        truth = twin.since(twin.truth)
        assert (truth.yaw, truth.pitch, truth.roll) == pytest.approx((0.6, 0.2, 0.0), abs=0.01)
        assert truth.header.frame_id == "base_link"
        assert twin.looks() == pytest.approx((0.6, 0.2), abs=0.03)

    def test_the_torso_has_a_controller_of_its_own(self, twin: TwinClient) -> None:
        twin.waist(0.4)
        twin.settle(waist=0.4, tilt=0.0)
        assert twin.looks() == pytest.approx((0.4, 0.0), abs=0.03)

    def test_velocities_are_those_of_the_driver(self, twin: TwinClient) -> None:
        twin.follow(0.4, motor_1=OFFSET - 0.8, tilt=0.0)
        moving = wait_until(
            lambda: next((s for s in twin.states if min(s.velocity) < -0.5), None), what="a joint that moves"
        )
        assert moving.name[moving.velocity.index(min(moving.velocity))] == "motor_1"

    def test_pictures_and_calibration_have_equal_stamps_and_frames(self, twin: TwinClient) -> None:
        image = twin.since(twin.images)
        info = twin.since(twin.infos, time_ns(image.header.stamp))
        assert info.header == image.header
        assert (image.header.frame_id, info.width, info.height) == ("camera_optical_frame", 160, 120)
        assert 2 * math.atan(80 / info.k[0]) == pytest.approx(math.radians(69.4), abs=1e-6)

    def test_the_description_reaches_who_comes_late(self, twin: TwinClient) -> None:
        descriptions = twin.graph.collect(String, "/robot_description", LATCHED)
        wait_until(lambda: descriptions, what="the description")
        assert descriptions[0].data == URDF

    def test_the_base_turns(self, twin: TwinClient) -> None:
        odometry = twin.graph.collect(Odometry, "/base/odom")
        wait_until(lambda: odometry, what="odometry")

        def heading() -> float:
            return 2 * math.asin(odometry[-1].pose.pose.orientation.z)

        def turn_to(wanted: float) -> None:
            command = Twist()
            end = time.monotonic() + WAIT_S
            while abs(wanted - heading()) > 0.01 or odometry[-1].twist.twist.angular.z:
                command.angular.z = min(0.8, max(-0.8, 4 * (wanted - heading())))
                if abs(wanted - heading()) < 0.01:
                    command.angular.z = 0.0
                twin.base.publish(command)
                time.sleep(0.02)
                assert time.monotonic() < end, f"the base is at {heading():.3f} rad, not at {wanted}"

        turn_to(-0.3)
        assert twin.looks()[0] == pytest.approx(-0.3, abs=0.04)
        assert twin.since(twin.truth).yaw == pytest.approx(0.0, abs=0.01)
        turn_to(0.0)

    def test_another_scene_is_around_it(self, twin: TwinClient) -> None:
        def load(scene: str) -> Any:
            return twin.graph.call(LoadScene, "/twin/load_scene", LoadScene.Request(scene=scene))

        response = load("b")
        assert (response.success, response.scene) == (True, "b")
        twin.since(twin.images, time_ns(response.view_stamp))
        turned = twin.looks()[0]
        response = load("c")
        assert (response.success, response.scene) == (False, "b")
        assert "no scene 'c'" in response.message
        assert load("a").success
        assert turned - twin.looks()[0] == pytest.approx(0.5, abs=0.04)


class TestCommandsThatAreNone:
    def test_an_unknown_joint_is_refused(self, twin: TwinClient) -> None:
        twin.follow(0.1, pan=0.3)
        assert twin.said("'pan' is not known here; motor_1, tilt are").level == DiagnosticStatus.WARN

    def test_too_few_positions_are_refused(self, twin: TwinClient) -> None:
        twin.waist(0.1, 0.2)
        twin.said("/torso/commands", "no positions of waist")
        assert twin.joints()["waist"] == pytest.approx(0.0, abs=0.01)

    def test_a_joint_driven_into_its_stop_is_told(self, twin: TwinClient) -> None:
        twin.follow(0.3, tilt=1.5)
        twin.said("driven into its stop: tilt to 1.500 rad, beyond -1.000 to 1.000")


class TestFaults:
    def test_no_pictures_and_no_joint_states(self, twin: TwinClient) -> None:
        assert not twin.set(dead_camera=True, dead_joint_states=True)
        switched = time.time_ns()
        twin.said("on purpose: dead_camera, dead_joint_states")
        twin.since(twin.truth, switched + 300_000_000)
        for messages in (twin.images, twin.infos, twin.states):
            assert time_ns(messages[-1].header.stamp) < switched + 50_000_000

    def test_frames_are_dropped(self, twin: TwinClient) -> None:
        assert not twin.set(drop_frames=0.5)
        first = time_ns(twin.since(twin.images).header.stamp)
        twin.since(twin.images, first + 1_000_000_000)
        count = sum(first <= time_ns(image.header.stamp) < first + 1_000_000_000 for image in twin.images)
        assert count < 25

    def test_pictures_arrive_late_and_tell_when_they_were_taken(self, twin: TwinClient) -> None:
        assert not twin.set(latency=0.3)
        exposed_ns = time_ns(twin.since(twin.images).header.stamp)
        assert time.time_ns() - exposed_ns >= 0.3e9

    def test_stamps_of_arrival_are_later_than_what_they_show(self, twin: TwinClient) -> None:
        assert not twin.set(latency=0.25, arrival_stamps=True)
        begin = time.time_ns()
        twin.follow(2.0, motor_1=OFFSET - 1.0, tilt=0.0)
        image = self.image_at(twin, lambda yaw: 0.3 < yaw < 0.7)
        yaw, _ = seen_direction(from_image(image))
        stamp = time_ns(image.header.stamp)
        ages = {p.yaw: stamp - time_ns(p.header.stamp) for p in twin.truth if time_ns(p.header.stamp) >= begin}
        shown = min(ages, key=lambda angle: abs(angle - yaw))
        # Colours tell the yaw to 0.03 rad, which are 0.05 s here.
        assert ages[shown] / 1e9 == pytest.approx(0.25, abs=0.1)

    def test_a_joint_sticks(self, twin: TwinClient) -> None:
        assert "'nose' is no joint" in twin.set(stuck_joint="nose")
        assert not twin.set(stuck_joint="tilt")
        twin.follow(0.2, motor_1=0.0, tilt=0.5)
        twin.settle(motor_1=0.0, tilt=0.0)

    def test_a_motion_ends_short(self, twin: TwinClient) -> None:
        assert not twin.set(short_by=0.35)
        twin.follow(0.2, motor_1=OFFSET + 0.6, tilt=0.0)
        twin.settle(motor_1=OFFSET + 0.25)

    def test_nothing_moves(self, twin: TwinClient) -> None:
        assert not twin.set(ignore_commands=True)
        twin.follow(0.1, motor_1=0.0, tilt=0.5)
        twin.since(twin.states, time.time_ns() + 300_000_000)
        assert twin.joints()["tilt"] == pytest.approx(0.0, abs=0.01)

    def test_a_motion_is_not_stopped(self, twin: TwinClient) -> None:
        assert not twin.set(keep_moving=True)
        twin.follow(0.5, motor_1=OFFSET, tilt=0.6)
        wait_until(lambda: twin.joints()["tilt"] > 0.1, what="a joint that moves")
        twin.follow(0.1, motor_1=OFFSET, tilt=0.1)
        twin.settle(tilt=0.6)

    @staticmethod
    def image_at(twin: TwinClient, wanted: Callable[[float], bool]) -> Image:
        begin = len(twin.images)
        return wait_until(
            lambda: next(
                (
                    image
                    for image in itertools.islice(twin.images, begin, None)
                    if wanted(seen_direction(from_image(image))[0])
                ),
                None,
            ),
            what="a picture of that direction",
        )


class TestAction:
    """As ros2_control's joint_trajectory_controller does it, where control_msgs is installed."""

    @pytest.fixture
    def send(self, twin: TwinClient) -> Callable[..., Any]:
        action = pytest.importorskip("control_msgs.action").FollowJointTrajectory
        client = GatedClient(twin.graph.node, action, "/neck/follow_joint_trajectory")
        assert client.wait_for_server(WAIT_S)

        def send(time_s: float, *, replaces: Any = None, **targets: float) -> Any:
            """Send a goal; one that it replaces is canceled as well, at the same moment."""
            sent = client.send_goal_async(action.Goal(trajectory=trajectory(time_s, targets)))
            if replaces is not None:
                replaces.cancel_goal_async()
            return twin.graph.result(sent)

        return send

    @staticmethod
    def end(twin: TwinClient, handle: Any) -> tuple[int, int, str]:
        """Return the goal's status, error code and text."""
        answer = twin.graph.result(handle.get_result_async())
        return answer.status, answer.result.error_code, answer.result.error_string

    def test_a_goal_succeeds_when_its_time_is_over(self, twin: TwinClient, send: Callable[..., Any]) -> None:
        began = time.monotonic()
        status, code, _ = self.end(twin, send(0.4, motor_1=0.0, tilt=0.2))
        assert (status, code) == (SUCCEEDED, 0)
        assert time.monotonic() - began >= 0.4
        twin.settle(motor_1=0.0, tilt=0.2)

    def test_a_failure_at_the_goal(self, twin: TwinClient, send: Callable[..., Any]) -> None:
        assert not twin.set(abort_at_goal=True)
        status, code, text = self.end(twin, send(0.2, motor_1=0.0, tilt=0.2))
        assert not twin.set(abort_at_goal=False)
        assert (status, code) == (ABORTED, -5)
        assert "goal_time_tolerance" in text
        twin.settle(motor_1=0.0, tilt=0.2)

    def test_a_canceled_goal_stops(self, twin: TwinClient, send: Callable[..., Any]) -> None:
        goal = send(3.0, motor_1=OFFSET - 1.5, tilt=0.0)
        wait_until(lambda: twin.joints()["motor_1"] < OFFSET - 0.1, what="a joint that moves")
        twin.graph.result(goal.cancel_goal_async())
        assert self.end(twin, goal)[0] == CANCELED
        wait_until(lambda: max(map(abs, twin.states[-1].velocity)) < 0.01, what="joints at rest")
        assert twin.joints()["motor_1"] > OFFSET - 1.4

    def test_a_newer_goal_takes_over(self, twin: TwinClient, send: Callable[..., Any]) -> None:
        older = send(3.0, motor_1=OFFSET, tilt=0.8)
        newer = send(0.3, motor_1=OFFSET, tilt=-0.1)
        assert self.end(twin, older)[0] == ABORTED
        assert self.end(twin, newer)[0] == SUCCEEDED
        twin.settle(tilt=-0.1)

    def test_to_cancel_a_goal_that_was_replaced_stops_nothing(self, twin: TwinClient, send: Callable[..., Any]) -> None:
        goal = send(3.0, motor_1=OFFSET, tilt=0.8)
        for tilt in (-0.2, 0.3, -0.4, 0.5):
            goal = send(0.5, replaces=goal, motor_1=OFFSET, tilt=tilt)
        assert self.end(twin, goal)[0] == SUCCEEDED
        twin.settle(tilt=0.5)

    def test_an_unknown_joint_is_rejected(self, twin: TwinClient, send: Callable[..., Any]) -> None:
        assert not send(0.2, pan=0.0).accepted
        twin.said("/neck/follow_joint_trajectory: a goal is rejected: joint 'pan' is not known here")


def trajectory(time_s: float, targets: dict[str, float]) -> JointTrajectory:
    """Return a trajectory of one point, in the driver's values."""
    point = JointTrajectoryPoint(
        positions=list(targets.values()), velocities=[0.0] * len(targets), time_from_start=duration_message(time_s)
    )
    return JointTrajectory(joint_names=list(targets), points=[point])


def test_what_is_fixed_at_the_start_is_refused_while_it_runs(twin: TwinClient) -> None:
    assert "exposure" in twin.set(exposure=0.1)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        (TwinParameters(), "parameter 'robot' is empty"),
        (TwinParameters(robot="nobody"), "nobody"),
        (TwinParameters(robot="pan_tilt", distortion="a b"), "parameter 'distortion' is 'a b'"),
        (TwinParameters(robot="pan_tilt", distortion="1 2 3"), "parameter 'distortion' is '1 2 3'"),
        (TwinParameters(robot="pan_tilt", urdf="/nowhere.urdf"), "parameter 'urdf' is '/nowhere.urdf'"),
    ],
)
def test_what_it_cannot_be_is_named(parameters: TwinParameters, reason: str) -> None:
    with pytest.raises((ParameterError, RobotError), match=reason):
        parameters.description(parameters.load())
        parameters.sensor()


def test_a_twin_of_nothing_ends_with_one_line(start_node: Launcher) -> None:
    process = start_node(MODULE)
    assert process.wait() == 1
    assert [line for line in process.output.splitlines() if "FATAL" in line and "'robot' is empty" in line]
    assert "Traceback" not in process.output
