"""What the twin's camera sees, where it is, and how it blurs."""

from __future__ import annotations

import math
from collections.abc import Callable

import cv2
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from twin_robots import NS, PAN_TILT, pan_tilt, shipped, twin_at

from hvs_ros.mock.twin.camera import Sensor, TwinCamera
from hvs_ros.mock.twin.controller import Waypoint
from hvs_ros.mock.twin.lookup import Lookup
from hvs_ros.mock.twin.physics import CameraPlace
from hvs_ros.mock.twin.twin import Twin, gaze_of
from hvs_ros.mock.twin.urdf_chain import cut_chain, pose_matrix
from hvs_ros.neck.state import GazeState
from hvs_ros.panorama import Camera, Panorama, Tilt, ViewSampler
from hvs_ros.panorama.camera import Intrinsics
from hvs_ros.panorama.lens import PlumbBob
from hvs_ros.search.view import Picture

pytest.importorskip("mujoco")

REALSENSE = Camera(640, 480, 69.4)
SMALL = Camera(160, 120, 69.4)
OPTICAL = pose_matrix((0, 0, 0), (-math.pi / 2, 0, -math.pi / 2))[:3, :3]
MS = 1_000_000


def coloured(tilt: Tilt | None = None) -> Panorama:
    """Return a panorama whose colours tell directions: cos and sin of the yaw [rad, left positive], and the pitch."""
    yaw = -((np.arange(1024) + 0.5) / 1024 - 0.5) * 2 * math.pi
    pitch = ((np.arange(512) + 0.5) / 512 - 0.5) * math.pi
    blue, green = (np.broadcast_to(128 + 120 * part, (512, 1024)) for part in (np.cos(yaw), np.sin(yaw)))
    red = np.broadcast_to((128 + 120 * pitch / (math.pi / 2))[:, None], (512, 1024))
    image = np.rint(np.dstack([blue, green, red])).astype(np.uint8)
    tilt = tilt or Tilt()
    return Panorama.from_array(image, roll_deg=tilt.roll_deg, pitch_deg=tilt.pitch_deg)


def textured(width: int = 2048) -> Panorama:
    spots = np.random.default_rng(3).integers(0, 256, (width // 16, width // 8, 3), dtype=np.uint8)
    return Panorama.from_array(np.asarray(cv2.resize(spots, (width, width // 2)), np.uint8))


COLOURED, TEXTURED = coloured(), textured()


def seen(picture: Picture) -> tuple[float, float]:
    """Return (yaw, pitch) [rad] that the middle of a picture of ``coloured`` shows, to 0.02 rad."""
    height, width = picture.shape[:2]
    middle = picture[height // 2 - 1 : height // 2 + 1, width // 2 - 1 : width // 2 + 1].reshape(-1, 3)
    blue, green, red = middle.astype(float).mean(axis=0) - 128
    return math.atan2(green, blue), red / 120 * math.pi / 2


def placed(gaze: GazeState, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> CameraPlace:
    turn = pose_matrix((0, 0, 0), (gaze.roll, gaze.pitch, gaze.yaw))[:3, :3]
    return CameraPlace(np.array([x, y, z]), turn @ OPTICAL)


def still(place: CameraPlace) -> Callable[[int], CameraPlace]:
    return lambda _: place


def view(panorama: Panorama, camera: Camera, gaze: GazeState) -> Picture:
    """Return the same from the panorama head's renderer."""
    degrees = (math.degrees(angle) for angle in (-gaze.yaw, -gaze.pitch, gaze.roll))
    return ViewSampler(panorama, camera).render(*degrees)


def differs(a: Picture, b: Picture) -> int:
    return int(np.abs(a.astype(int) - b).max())


class TestDirection:
    @settings(max_examples=40, deadline=None)
    @given(yaw=st.floats(-4, 4), pitch=st.floats(-1.57, 1.57), roll=st.floats(-3.2, 3.2), tilt=st.booleans())
    def test_at_the_centre_it_sees_what_a_panorama_head_sees(
        self, yaw: float, pitch: float, roll: float, tilt: bool
    ) -> None:
        panorama = coloured(Tilt(5.0, -8.0)) if tilt else COLOURED
        gaze = GazeState(yaw, pitch, roll=roll)
        for radius in (0.0, 5.0):
            picture = Lookup(SMALL, radius).picture(panorama, placed(gaze))
            assert differs(picture, view(panorama, SMALL, gaze)) <= 2

    @pytest.mark.parametrize(("yaw", "pitch"), [(0.0, 0.0), (3.1, 0.2), (-2.0, 1.2), (1.0, -1.57), (0.5, -0.9)])
    def test_every_pixel_is_where_the_panorama_head_has_it(self, yaw: float, pitch: float) -> None:
        gaze = GazeState(yaw, pitch, roll=0.3)
        picture, same = Lookup(REALSENSE, 0.0).picture(TEXTURED, placed(gaze)), view(TEXTURED, REALSENSE, gaze)
        # A hundredth of a degree is 0.06 of the panorama's pixels, between which colours differ by up to 32.
        assert differs(picture, same) <= 4

    @settings(max_examples=25, deadline=None)
    @given(pan=st.floats(-3.1, 3.1), tilt=st.floats(-0.95, 0.95))
    def test_it_looks_where_the_joints_turn_it(self, pan: float, tilt: float) -> None:
        twin = twin_at(pan_tilt(reach=0.0), (pan, tilt))
        camera = TwinCamera(Sensor(SMALL, scene_radius=0.0), twin.start.position)
        yaw, pitch = seen(camera.expose(COLOURED, twin.in_world, 0))
        assert math.remainder(yaw - pan, 2 * math.pi) == pytest.approx(0.0, abs=0.03)
        assert pitch == pytest.approx(tilt, abs=0.03)

    @pytest.mark.parametrize("name", ["icub", "stretch", "vega"])
    def test_it_looks_where_a_shipped_robot_turns_it(self, name: str) -> None:
        robot, urdf = shipped(name)
        chain = cut_chain(urdf, robot)
        neutral = Twin(chain, robot.turn, 0).start
        random = np.random.default_rng(2)
        for _ in range(10):
            joints = list(chain.neutral)
            for index in range(len(robot.neck)):
                low, high = chain.limits[index]
                joints[index] = low + random.uniform(0.1, 0.9) * (high - low)
            twin = Twin(chain, robot.turn, 0, start=tuple(joints))
            gaze = gaze_of(twin.in_base(0), robot.camera.turned)
            camera = TwinCamera(Sensor(SMALL, scene_radius=0.0), neutral.position)
            yaw, pitch = seen(camera.expose(COLOURED, twin.in_world, 0))
            assert pitch == pytest.approx(gaze.pitch, abs=0.03)
            assert math.cos(pitch) * math.remainder(yaw - gaze.yaw, 2 * math.pi) == pytest.approx(0.0, abs=0.03)

    def test_a_camera_on_its_side_gives_pictures_on_their_side(self) -> None:
        robot, urdf = shipped("stretch")
        assert robot.camera.turned == pytest.approx(math.pi / 2)
        twin = Twin(cut_chain(urdf, robot), robot.turn, 0)
        picture = TwinCamera(Sensor(SMALL), twin.start.position).expose(TEXTURED, twin.in_world, 0)
        # Its right side is down: what is up is at the picture's left, so a quarter turn clockwise puts it upright.
        upright = np.asarray(cv2.rotate(picture, cv2.ROTATE_90_CLOCKWISE), np.uint8)
        tall = Camera(120, 160, 2 * math.degrees(math.atan(60 / SMALL.fx)))
        assert differs(upright, view(TEXTURED, tall, gaze_of(twin.start, math.pi / 2))) <= 4

    def test_a_base_that_turns_turns_the_picture(self) -> None:
        twin = Twin(pan_tilt(), PAN_TILT.turn, 0)
        for moment in range(0, 2 * NS, 100 * MS):
            twin.turn_base(moment, 0.5)
        heading, _ = twin.odometry(4 * NS)
        camera = TwinCamera(Sensor(SMALL, scene_radius=0.0), twin.start.position)
        assert seen(camera.expose(COLOURED, twin.in_world, 4 * NS))[0] == pytest.approx(heading, abs=0.03)


class TestPosition:
    @given(x=st.floats(-1, 1), y=st.floats(-1, 1), z=st.floats(-1, 1), yaw=st.floats(-3, 3))
    @settings(max_examples=25, deadline=None)
    def test_the_panorama_is_on_a_sphere(self, x: float, y: float, z: float, yaw: float) -> None:
        radius = 4.0
        picture = Lookup(SMALL, radius).picture(COLOURED, placed(GazeState(yaw, 0.0), x, y, z))
        # Where the line of sight meets the sphere around the origin.
        ahead, here = np.array([math.cos(yaw), math.sin(yaw), 0.0]), np.array([x, y, z])
        along = float(ahead @ here)
        met = here + (math.sqrt(along**2 - here @ here + radius**2) - along) * ahead
        seen_yaw, seen_pitch = seen(picture)
        assert math.remainder(seen_yaw - math.atan2(met[1], met[0]), 2 * math.pi) == pytest.approx(0.0, abs=0.03)
        assert seen_pitch == pytest.approx(-math.asin(met[2] / radius), abs=0.03)

    def test_near_things_shift_when_the_head_turns_and_far_ones_do_not(self) -> None:
        chain = pan_tilt(reach=0.3)
        neutral = Twin(chain, PAN_TILT.turn, 0).start
        twin = twin_at(chain, (math.pi / 2, 0.0))
        shifts = []
        for radius in (2.0, 0.0):
            camera = TwinCamera(Sensor(SMALL, scene_radius=radius), neutral.position)
            shifts.append(seen(camera.expose(COLOURED, twin.in_world, 0))[0] - math.pi / 2)
        # 0.3 m beside the line of sight at a distance of 2 m: it looks at what is further left from the centre.
        assert shifts == pytest.approx([math.asin(0.3 / 2.0), 0.0], abs=0.03)

    def test_at_the_start_it_sees_what_a_panorama_head_sees(self) -> None:
        twin = Twin(pan_tilt(reach=0.3), PAN_TILT.turn, 0)
        picture = TwinCamera(Sensor(SMALL, scene_radius=1.0), twin.start.position).expose(TEXTURED, twin.in_world, 0)
        assert differs(picture, view(TEXTURED, SMALL, GazeState(0.0, 0.0))) <= 4

    def test_a_camera_that_left_the_sphere_still_sees_something(self) -> None:
        picture = Lookup(SMALL, 0.5).picture(COLOURED, placed(GazeState(0.0, 0.0), 3.0, 1.0, 0.0))
        assert picture.std() > 0


class TestExposure:
    edge = Panorama.from_array(
        np.ascontiguousarray(
            np.broadcast_to(np.where(np.arange(4096) < 2048, 0, 255)[None, :, None], (2048, 4096, 3))
        ).astype(np.uint8)
    )

    def width(self, picture: Picture) -> int:
        """Return over how many pixels the edge goes."""
        row = picture[picture.shape[0] // 2, :, 0]
        return int(np.count_nonzero((row > 10) & (row < 245)))

    def test_a_picture_is_blurred_by_what_it_moves_within_the_exposure(self) -> None:
        widths = []
        for exposure in (0.0, 0.02):
            twin = Twin(pan_tilt(reach=0.0), PAN_TILT.turn, 0)
            twin.follow(0, ["pan"], [Waypoint(1.0, (-0.5,)), Waypoint(2.0, (0.5,))])
            camera = TwinCamera(Sensor(REALSENSE, exposure, scene_radius=0.0), twin.start.position)
            # The goal is followed 45 ms late, so that the middle comes after a second and a half and a little.
            widths.append(self.width(camera.expose(self.edge, twin.in_world, 1545 * MS)))
        # 1 rad/s for 20 ms: 0.02 rad
        assert widths[0] <= 2
        assert widths[1] == pytest.approx(0.02 * REALSENSE.fx, abs=2.5)

    def test_a_camera_at_rest_renders_once(self) -> None:
        twin = Twin(pan_tilt(), PAN_TILT.turn, 0)
        camera = TwinCamera(Sensor(SMALL), twin.start.position)
        pictures = [camera.expose(TEXTURED, twin.in_world, NS + moment * 33 * MS) for moment in range(10)]
        assert camera.renders == 1
        assert all(differs(picture, pictures[0]) == 0 for picture in pictures)
        camera.expose(COLOURED, twin.in_world, 2 * NS)
        assert camera.renders == 2

    def test_noise_is_another_one_in_each_picture_and_the_same_with_the_same_seed(self) -> None:
        grey = Panorama.from_array(np.full((64, 128, 3), 128, np.uint8))
        place = still(placed(GazeState(0.0, 0.0)))
        cameras = [TwinCamera(Sensor(SMALL, noise=5.0, seed=7), np.zeros(3)) for _ in range(2)]
        first, again = (camera.expose(grey, place, 0) for camera in cameras)
        assert differs(first, again) == 0
        assert first.std() == pytest.approx(5.0, rel=0.05)
        assert first.mean() == pytest.approx(128.0, abs=0.2)
        assert differs(first, cameras[0].expose(grey, place, 0)) > 5


@settings(max_examples=20, deadline=None)
@given(u=st.integers(4, 155), v=st.integers(4, 115), k1=st.floats(-0.3, 0.2), cx=st.floats(60, 100))
def test_a_distorting_lens_sees_what_its_calibration_says(u: int, v: int, k1: float, cx: float) -> None:
    camera = Camera(160, 120, 69.4, Intrinsics(115.0, 118.0, cx, 61.0), PlumbBob(k1, 0.05, 0.001, -0.002))
    picture = Lookup(camera, 0.0).picture(COLOURED, placed(GazeState(0.0, 0.0)))
    ray = camera.rays(u + 0.5, v + 0.5)
    assume(np.isfinite(ray).all())
    blue, green, red = picture[v, u].astype(float) - 128
    assert math.atan2(green, blue) == pytest.approx(-math.atan2(ray[0], ray[2]), abs=0.03)
    assert red / 120 * math.pi / 2 == pytest.approx(math.atan2(ray[1], math.hypot(ray[0], ray[2])), abs=0.03)


def test_where_a_lens_has_no_ray_the_picture_is_black() -> None:
    camera = Camera(160, 120, 69.4, Intrinsics(60.0, 60.0, 80.0, 60.0), PlumbBob(-0.5))
    picture = Lookup(camera, 5.0).picture(COLOURED, placed(GazeState(0.0, 0.0)))
    assert not picture[0, 0].any()
    assert picture[60, 80].all()
