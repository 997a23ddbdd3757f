"""A robot's camera: heard whatever its QoS, believed only as far as its stamps go, and named when it is not there."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from rcl_interfaces.msg import Log
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros_domain import claim_domain
from ros_graph import WAIT_S, Graph, wait_until
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

from hvs_ros.neck.joint_history import JointHistory
from hvs_ros.neck.joints import JointSample
from hvs_ros.neck.robot import HeadCameraMount
from hvs_ros.nodes import camera_frames, robot_camera
from hvs_ros.nodes.camera_frames import CameraFrames
from hvs_ros.nodes.camera_info import camera_info
from hvs_ros.nodes.convert import NS, header, time_ns
from hvs_ros.nodes.frame_renderer import FrameRenderer
from hvs_ros.nodes.images import to_compressed, to_image
from hvs_ros.nodes.robot_camera import CameraFrame, RobotCamera
from hvs_ros.panorama import Camera, CameraError, Panorama, ViewSampler
from hvs_ros.search.view import Picture

CAMERA = Camera(64, 48, 62.0)
OPTICAL = "camera_optical_frame"
BEST_EFFORT = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=5)
SAID = QoSProfile(depth=200, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""What is logged before the listener has been discovered is heard too."""


def never() -> bool:
    return False


def plain(grey: int, camera: Camera = CAMERA) -> Picture:
    return np.full((camera.height, camera.width, 3), grey, np.uint8)


def mount(name: str, **options: Any) -> HeadCameraMount:
    return HeadCameraMount(frame=OPTICAL, image=f"/{name}/image", info=f"/{name}/info", **options)


@pytest.fixture(scope="module")
def domain_of_module() -> Iterator[int]:
    with claim_domain() as number:
        yield number


@pytest.fixture(scope="module")
def robot(domain_of_module: int) -> Iterator[Graph]:
    """The node that has the camera."""
    with Graph(domain_of_module) as graph:
        yield graph


@pytest.fixture(scope="module")
def outside(domain_of_module: int) -> Iterator[Graph]:
    """The drivers' node."""
    with Graph(domain_of_module) as graph:
        yield graph


class Driver:
    """A camera driver whose pictures are of one grey."""

    def __init__(self, graph: Graph, name: str, *, qos: QoSProfile = RELIABLE, kind: type = Image) -> None:
        self._kind = kind
        self._node = graph.node
        self.images = graph.node.create_publisher(kind, f"/{name}/image", qos)
        self.infos = graph.node.create_publisher(CameraInfo, f"/{name}/info", qos)

    def shoot(
        self,
        stamp_ns: int | None = None,
        *,
        grey: int = 50,
        picture: Picture | None = None,
        camera: Camera | None = CAMERA,
        frame_id: str = OPTICAL,
    ) -> int:
        """Publish a picture, and its camera_info unless there is no camera; return the stamp."""
        stamp_ns = time.time_ns() if stamp_ns is None else stamp_ns
        if camera is not None:
            self.infos.publish(camera_info(camera, header(stamp_ns, frame_id)))
        picture = plain(grey, camera or CAMERA) if picture is None else picture
        made = header(stamp_ns, OPTICAL)
        self.images.publish(to_image(picture, made) if self._kind is Image else to_compressed(picture, made, 95))
        return stamp_ns

    @contextmanager
    def running(self, **options: Any) -> Iterator[None]:
        """Shoot 30 times a second, at latest stamps unless told otherwise by ``age_s``."""
        age_ns = round(options.pop("age_s", 0.0) * NS)
        done = threading.Event()

        def run() -> None:
            while not done.wait(1 / 30):
                self.shoot(time.time_ns() - age_ns, **options)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join(WAIT_S)

    def heard(self) -> Driver:
        """Wait until somebody listens to pictures and calibrations."""
        wait_until(
            lambda: self.images.get_subscription_count() and self.infos.get_subscription_count(), what="a subscriber"
        )
        return self

    def gone(self) -> None:
        self._node.destroy_publisher(self.images)
        self._node.destroy_publisher(self.infos)


@contextmanager
def listening(
    graph: Graph, seen_by: HeadCameraMount, target: Camera | None = None, latency_s: float = 0.0
) -> Iterator[RobotCamera]:
    camera = RobotCamera(graph.node, seen_by, target, latency_s=latency_s)
    try:
        yield camera
    finally:
        camera.close()


def taken(camera: RobotCamera, since_ns: int) -> CameraFrame:
    frame = camera.frame_after(since_ns, WAIT_S, never)
    assert frame is not None, camera.problem()
    return frame


def test_the_joints_of_a_late_camera_are_those_of_its_exposure(robot: Graph, outside: Graph) -> None:
    """The head nods at up to 150 degrees per second; pictures are stamped 120 ms late, and show the angle in grey."""
    latency, w = 0.12, 2 * math.pi * 0.8
    begin = time.time_ns()

    def nod(stamp_ns: int) -> tuple[float, float]:
        phase = w * (stamp_ns - begin) / NS
        return math.radians(30) * math.sin(phase), math.radians(30) * w * math.cos(phase)

    history = JointHistory(keep_s=60.0)
    driver, done = Driver(outside, "late", qos=BEST_EFFORT), threading.Event()

    def shoot() -> None:
        while not done.wait(1 / 30):
            exposed = time.time_ns() - round(latency * NS)
            # 0.25 degrees for a level of grey.
            grey = round(128 + math.degrees(nod(exposed)[0]) * 4)
            driver.shoot(exposed + round(latency * NS), grey=grey)

    with listening(robot, mount("late"), latency_s=latency) as camera:
        thread = threading.Thread(target=shoot)
        thread.start()
        try:
            frames = [taken(camera, time.time_ns()) for _ in range(6)]
        finally:
            done.set()
            thread.join(WAIT_S)
    for step in range(round((time.time_ns() - begin) / NS * 50) + 2):
        stamp = begin + step * NS // 50
        position, velocity = nod(stamp)
        history.add(JointSample(stamp, (position,), (velocity,)))
    for frame in frames:
        shown = (int(camera.render(frame, 0.0)[0][0, 0, 0]) - 128) / 4
        where = history.at(frame.stamp_ns)
        assert where is not None
        assert math.degrees(where.position[0]) == pytest.approx(shown, abs=0.5)
        assert time_ns(frame.message.header.stamp) - frame.stamp_ns == round(latency * NS)


@pytest.mark.parametrize("kind", [Image, CompressedImage], ids=["raw", "compressed"])
@pytest.mark.parametrize("qos", [RELIABLE, BEST_EFFORT], ids=["reliable", "best_effort"])
@pytest.mark.parametrize("first", ["driver", "camera"])
def test_every_driver_is_heard(robot: Graph, outside: Graph, kind: type, qos: QoSProfile, first: str) -> None:
    name = f"heard_{kind.__name__.lower()}_{qos.reliability.name.lower()}_{first}"
    transport = "raw" if kind is Image else "compressed"
    driver = Driver(outside, name, qos=qos, kind=kind) if first == "driver" else None
    with listening(robot, mount(name, transport=transport)) as camera:
        driver = driver or Driver(outside, name, qos=qos, kind=kind)
        with driver.running(grey=77):
            asked = time.time_ns()
            frame = taken(camera, asked)
            assert frame.stamp_ns == time_ns(frame.message.header.stamp) >= asked
            assert frame.info.header == frame.message.header
            picture, seen_with, made = camera.render(frame, 0.0)
            wait_until(lambda: camera.rate > 1.0, what="a rate")
            latest = camera.latest()
            assert latest is not None and latest.stamp_ns >= frame.stamp_ns
        assert picture.shape == (48, 64, 3) and abs(int(picture[20, 20, 1]) - 77) <= 2
        assert (seen_with.width, seen_with.height) == (64, 48) and made == "native, 64x48, 62.0° (plumb_bob)"
        assert camera.received > 0 and camera.refused == 0 and camera.problem() == ""
    driver.gone()


def test_the_first_picture_since_a_moment_is_taken(robot: Graph, outside: Graph) -> None:
    driver = Driver(outside, "first")
    with listening(robot, mount("first")) as camera:
        driver.heard()
        now = time.time_ns()
        for count, offset in enumerate((-2, -1, 0, 1, 2)):
            driver.shoot(now + offset * NS // 100)
            wait_until(lambda count=count: camera.received > count)
        assert taken(camera, now - NS // 200).stamp_ns == now
        assert taken(camera, now).stamp_ns == now
        assert taken(camera, now + 1).stamp_ns == now + NS // 100
        camera.latency = 0.02
        assert camera.latency == 0.02
        assert taken(camera, now).stamp_ns == now
        assert time_ns(taken(camera, now).message.header.stamp) == now + NS // 50


def test_pictures_that_are_all_too_old_are_told_from_none(robot: Graph, outside: Graph) -> None:
    driver = Driver(outside, "slow")
    with listening(robot, mount("slow"), latency_s=0.25) as camera:
        driver.heard()
        with driver.running():
            wait_until(lambda: camera.received)
            assert camera.frame_after(time.time_ns() + 10 * NS, 0.5, never) is None
        assert "before the moment waited for, going by its stamp less a latency of 0.25 s" in camera.problem()


def test_a_wait_can_be_stopped(robot: Graph) -> None:
    stop = threading.Event()
    with listening(robot, mount("stopped")) as camera:
        threading.Timer(0.1, stop.set).start()
        began = time.monotonic()
        assert camera.frame_after(0, 60.0, stop.is_set) is None
        assert time.monotonic() - began < 5.0
        assert camera.problem() == ""


def test_rare_camera_info_is_used_with_one_warning(robot: Graph, outside: Graph) -> None:
    driver, said = Driver(outside, "rare"), outside.collect(Log, "/rosout", SAID)
    with listening(robot, mount("rare")) as camera:
        driver.heard()
        first = driver.shoot()
        assert time_ns(taken(camera, first).info.header.stamp) == first
        for _ in range(3):
            stamp = driver.shoot(camera=None)
            frame = taken(camera, stamp)
            assert frame.stamp_ns == stamp and time_ns(frame.info.header.stamp) == first
        again = driver.shoot()
        assert time_ns(taken(camera, again).info.header.stamp) == again
        warned = wait_until(lambda: [log.msg for log in said if "/rare/info" in log.msg and log.level == 30])
        assert len(warned) == 1 and "last one of the same frame_id is used" in warned[0]


def test_camera_info_that_is_missing_is_named(robot: Graph, outside: Graph) -> None:
    driver = Driver(outside, "infoless")
    with listening(robot, mount("infoless")) as camera:
        driver.heard()
        with driver.running(camera=None):
            assert camera.frame_after(time.time_ns(), 0.6, never) is None
        assert "pictures come on /infoless/image, but no camera_info comes: /infoless/info is published by /test" in (
            camera.problem()
        )


def test_camera_info_of_another_frame_is_named(robot: Graph, outside: Graph) -> None:
    driver = Driver(outside, "other_frame")
    with listening(robot, mount("other_frame")) as camera:
        driver.heard()
        driver.shoot(frame_id="depth_frame")
        with driver.running(camera=None):
            assert camera.frame_after(time.time_ns(), 0.6, never) is None
        assert "'depth_frame'" in camera.problem() and repr(OPTICAL) in camera.problem()


def test_an_uncalibrated_camera_is_named(robot: Graph, outside: Graph) -> None:
    driver = Driver(outside, "uncalibrated")
    with listening(robot, mount("uncalibrated")) as camera:
        driver.heard()
        stamp = driver.shoot(camera=None)
        driver.infos.publish(CameraInfo(header=header(stamp, OPTICAL), width=64, height=48))
        assert camera.frame_after(stamp, 0.5, never) is None
        assert "/uncalibrated/info" in camera.problem() and "not calibrated" in camera.problem()


def test_nobody_publishes(robot: Graph, outside: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robot_camera, "NO_IMAGE_S", 0.3)
    elsewhere = Driver(outside, "elsewhere", kind=CompressedImage)
    with listening(robot, mount("nobody")) as camera:
        assert camera.problem() == ""
        problem = wait_until(camera.problem)
        assert "s: nobody publishes /nobody/image" in problem and "no picture for" in problem
        wait_until(lambda: "/elsewhere/image (compressed)" in camera.problem(), what="where pictures are")
    elsewhere.gone()


@pytest.mark.parametrize("qos", [RELIABLE, BEST_EFFORT], ids=["reliable", "best_effort"])
def test_a_camera_that_dies_is_named_with_its_qos(
    robot: Graph, outside: Graph, qos: QoSProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robot_camera, "NO_IMAGE_S", 0.5)
    name, how = f"dying_{qos.reliability.name.lower()}", qos.reliability.name.lower().replace("_", " ")
    driver = Driver(outside, name, qos=qos)
    with listening(robot, mount(name)) as camera:
        with driver.running():
            frame = taken(camera, time.time_ns())
        problem = wait_until(camera.problem)
        assert f"/{name}/image is published by /test ({how}, volatile)" in problem
        assert camera.rate == 0.0
        with driver.running():
            taken(camera, frame.stamp_ns + NS // 2)
            assert camera.problem() == ""
    driver.gone()


def test_a_topic_of_another_type_is_named(robot: Graph, outside: Graph) -> None:
    driver = Driver(outside, "mistyped", kind=CompressedImage)
    with listening(robot, mount("mistyped")) as camera:
        wait_until(lambda: "CompressedImage" in camera._images.describe(), what="discovery")
        assert camera.frame_after(0, 0.1, never) is None
        assert "sensor_msgs/msg/CompressedImage instead of sensor_msgs/msg/Image" in camera.problem()
    driver.gone()


@pytest.mark.parametrize(
    ("age_s", "words"),
    [(3600.0, r"3600\.\d\d s old when they come"), (-30.0, r"stamped (30|29)\.\d\d s in the future")],
)
def test_stamps_of_another_clock_are_named(robot: Graph, outside: Graph, age_s: float, words: str) -> None:
    name = f"off_by_{abs(age_s):.0f}"
    driver = Driver(outside, name)
    with listening(robot, mount(name)) as camera:
        driver.heard()
        with driver.running(age_s=age_s):
            assert camera.frame_after(0, 0.5, never) is None
        assert re.search(f"pictures come on /{name}/image, but they are {words}", camera.problem())
        assert camera.refused > 0 and camera.latest() is None


def test_simulated_time(domain: int) -> None:
    with Graph(domain) as graph, Graph(domain) as outside:
        graph.node.set_parameters([Parameter("use_sim_time", value=True)])
        clock = outside.node.create_publisher(Clock, "/clock", 10)
        driver = Driver(outside, "simulated")
        with listening(graph, mount("simulated")) as camera:
            driver.heard()
            driver.shoot(100 * NS)
            wait_until(lambda: camera.received == 1)
            assert camera.frame_after(0, 0.0, never) is None
            assert "no time comes on /clock" in camera._frames.refusal
            wait_until(clock.get_subscription_count, what="somebody who hears /clock")
            clock.publish(Clock(clock=header(100 * NS, "").stamp))
            wait_until(lambda: graph.node.get_clock().now().nanoseconds == 100 * NS)
            driver.shoot(100 * NS)
            assert taken(camera, 99 * NS).stamp_ns == 100 * NS


def test_it_is_brought_to_the_target_camera(robot: Graph, outside: Graph) -> None:
    """A camera that lies on its side, on a head that leans by 3 degrees."""
    across = np.linspace(0, 2 * np.pi, 1024, endpoint=False)
    waves = [110 + 60 * np.sin(k * across)[None, :] * np.cos(across / 2)[:512, None] for k in (3, 5, 8)]
    panorama = Panorama.from_array(np.dstack(waves).astype(np.uint8))
    source, target = Camera(320, 240, 70.0), Camera(320, 180, 100.0)
    driver = Driver(outside, "sideways")
    with listening(robot, mount("sideways", turned=math.pi / 2), target) as camera:
        driver.heard()
        picture = ViewSampler(panorama, source).render(20.0, -10.0, 93.0)
        frame = taken(camera, driver.shoot(picture=picture, camera=source))
        image, seen_with, made = camera.render(frame, math.radians(3.0))
    assert seen_with == target
    direct = ViewSampler(panorama, target).render(20.0, -10.0)
    real = np.any(image != 128, axis=2)
    assert 0.2 < real.mean() < 0.9
    assert np.abs(image.astype(int) - direct)[real].mean() < 2.0
    assert made.startswith("re-projected from 320x240, 70.0° (plumb_bob), turned back by 93.00°; ")
    assert "% of it is grey" in made


def test_native_pictures_are_left_as_they_are(robot: Graph, outside: Graph) -> None:
    driver = Driver(outside, "native")
    with listening(robot, mount("native", turned=math.pi / 2)) as camera:
        driver.heard()
        picture = np.random.default_rng(1).integers(0, 256, (48, 64, 3), np.uint8)
        frame = taken(camera, driver.shoot(picture=picture))
        image, seen_with, made = camera.render(frame, 0.0)
    assert np.array_equal(image, picture)
    assert seen_with.hfov_deg == pytest.approx(62.0)
    assert made == "native, 64x48, 62.0° (plumb_bob), rolled by 90.0° and not turned back"


def test_a_calibration_of_another_resolution_is_named(robot: Graph, outside: Graph) -> None:
    driver = Driver(outside, "resolution")
    with listening(robot, mount("resolution"), Camera(320, 180, 100.0)) as camera:
        driver.heard()
        frame = taken(camera, driver.shoot(picture=plain(9), camera=Camera(128, 96, 62.0)))
        with pytest.raises(CameraError, match="pictures are 64x48, but camera_info is of 128x96"):
            camera.render(frame, 0.0)


@pytest.mark.parametrize(
    ("topic", "rectified"),
    [
        ("/camera/image_raw", False),
        ("/camera/image_rect", True),
        ("/camera/image_rect_color/compressed", True),
        ("/camera/image_rect/other", False),
    ],
)
def test_rectified_pictures_are_not_undistorted_again(topic: str, rectified: bool) -> None:
    distorted = Camera.from_camera_info(64, 48, (50, 0, 32, 0, 50, 24, 0, 0, 1), (-0.2, 0, 0, 0, 0))
    info = camera_info(distorted, header(1, OPTICAL))
    info.p[0], info.p[2] = 45.0, 30.0
    camera = FrameRenderer(HeadCameraMount(frame=OPTICAL, image=topic), None).camera(info)
    assert (camera.fx, camera.cx) == ((45.0, 30.5) if rectified else (50.0, 32.5))
    assert any(camera.d) != rectified


def test_closed_it_listens_no_more(robot: Graph, outside: Graph) -> None:
    driver = Driver(outside, "closed", qos=BEST_EFFORT)
    before = len(list(robot.node.timers)), len(list(robot.node.subscriptions))
    with listening(robot, mount("closed")):
        driver.heard()
    assert (len(list(robot.node.timers)), len(list(robot.node.subscriptions))) == before
    wait_until(lambda: not driver.images.get_subscription_count())


class TestFrames:
    """What is kept, without a graph; the time that pairs wait for is at will."""

    @pytest.fixture
    def now(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        now = [100.0]
        monkeypatch.setattr(camera_frames.time, "monotonic", lambda: now[0])
        return now

    @staticmethod
    def image(stamp_ns: int) -> Image:
        return Image(header=header(stamp_ns, OPTICAL))

    @staticmethod
    def info(stamp_ns: int, frame_id: str = OPTICAL) -> CameraInfo:
        return CameraInfo(header=header(stamp_ns, frame_id))

    def test_a_picture_waits_for_its_own_calibration(self, now: list[float]) -> None:
        frames = CameraFrames(0.0, 2.0)
        frames.add_info(self.info(1 * NS))
        assert frames.add(self.image(2 * NS), 2 * NS)
        assert frames.first(2 * NS) is None
        frames.add_info(self.info(2 * NS))
        frame = frames.first(2 * NS)
        assert frame is not None and time_ns(frame.info.header.stamp) == 2 * NS and not frames.unpaired

    def test_but_not_for_ever_and_the_next_ones_not_at_all(self, now: list[float]) -> None:
        frames = CameraFrames(0.0, 2.0)
        frames.add_info(self.info(1 * NS))
        frames.add(self.image(2 * NS), 2 * NS)
        now[0] += camera_frames.PAIR_WAIT_S
        frame = frames.first(2 * NS)
        assert frame is not None and time_ns(frame.info.header.stamp) == 1 * NS and frames.unpaired
        frames.add(self.image(3 * NS), 3 * NS)
        assert frames.first(3 * NS) is not None
        # As when a driver has just been found: pictures are heard before calibrations.
        frames.add(self.image(4 * NS), 4 * NS)
        frames.add_info(self.info(4 * NS))
        assert frames.first(4 * NS) is not None and not frames.unpaired

    def test_pictures_out_of_order(self, now: list[float]) -> None:
        frames = CameraFrames(0.0, 2.0)
        for tenths in (50, 52, 51, 53):
            frames.add(self.image(tenths * NS // 10), 5 * NS)
            frames.add_info(self.info(tenths * NS // 10))
        first, last = frames.first(5 * NS + 1), frames.last()
        assert first is not None and first.stamp_ns == 51 * NS // 10
        assert frames.newest_ns == 52 * NS // 10  # 5.3 s is in the future, when it is 5 s
        assert last is not None and last.stamp_ns == 52 * NS // 10

    def test_a_clock_that_is_set_back_begins_anew(self, now: list[float]) -> None:
        frames = CameraFrames(0.0, 2.0)
        frames.add(self.image(1000 * NS), 1000 * NS)
        frames.add_info(self.info(1000 * NS))
        frames.add(self.image(5 * NS), 5 * NS)
        assert frames.newest_ns == 5 * NS and frames.last_info is None
        frames.add_info(self.info(5 * NS))
        frame = frames.first(0)
        assert frame is not None and frame.stamp_ns == 5 * NS

    def test_no_stamp_at_all(self, now: list[float]) -> None:
        frames = CameraFrames(0.0, 2.0)
        assert not frames.add(self.image(0), 5 * NS)
        assert "carry no stamp" in frames.refusal
        assert frames.add(self.image(5 * NS), 5 * NS) and frames.refusal == ""
