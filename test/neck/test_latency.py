"""A camera's latency, found from pictures that move as the head turns; and what is refused."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hvs_ros.neck.image_shift import image_shift, middle_of, turn_angle
from hvs_ros.neck.latency import GazeYaw, LatencyError, SeenStep, estimate_latency
from hvs_ros.neck.motion import plan
from hvs_ros.panorama import Camera, ViewSampler, open_panorama
from hvs_ros.search.view import Picture


def sweeps(count: int = 3, velocity: float = 0.5, amplitude: float = 0.26) -> tuple[Callable[[float], float], float]:
    """Return a gaze's yaw [rad] by time [s], and when it is at rest for good."""
    time, position, parts = 1.0, 0.0, []
    for index in range(2 * count):
        target = amplitude * (-1) ** index
        motion = plan(position, 0.0, target, max_velocity=velocity, max_acceleration=4.0)
        parts.append((time, motion))
        time, position = time + motion.duration + 0.4, target

    def yaw(moment: float) -> float:
        value = 0.0
        for start, motion in parts:
            if moment >= start:
                value = motion.at(moment - start)[0]
        return value

    return yaw, time


def record(
    latency: float,
    seed: int = 0,
    *,
    noise: float = 0.001,
    jitter: float = 0.003,
    dropped: float = 0.1,
    exposure: float = 0.02,
    velocity: float = 0.5,
    scale: float = 1.0,
    glitches: float = 0.0,
    count: int = 3,
    amplitude: float = 0.26,
) -> tuple[list[SeenStep], list[GazeYaw]]:
    """Return what a 30 Hz camera and a 50 Hz pose tell."""
    chance = random.Random(seed)
    yaw, end = sweeps(count, velocity, amplitude)
    times = [index / 50 for index in range(int(50 * end) + 50)]
    gaze = [GazeYaw(time, math.remainder(yaw(time) + 3.1, 2 * math.pi)) for time in times]
    seen: list[SeenStep] = []
    last: tuple[float, float] | None = None
    for index in range(int(30 * end)):
        if chance.random() < dropped:
            continue
        moment = index / 30
        blurred = sum(yaw(moment + exposure * part / 4) for part in (-2, -1, 0, 1, 2)) / 5
        stamp = moment + latency + chance.gauss(0.0, jitter)
        if last is not None:
            angle = scale * (blurred - last[1]) + chance.gauss(0.0, noise)
            if chance.random() < glitches:
                angle = chance.uniform(-0.3, 0.3)
            seen.append(SeenStep(last[0], stamp, angle))
        last = (stamp, blurred)
    return seen, gaze


@settings(max_examples=30, deadline=None)
@given(st.floats(0.0, 0.2), st.integers(0, 10**6), st.floats(0.3, 0.8))
def test_latency_is_found_to_a_few_milliseconds(latency: float, seed: int, velocity: float) -> None:
    found = estimate_latency(*record(latency, seed, velocity=velocity))
    assert found.latency == pytest.approx(latency, abs=0.01)
    assert abs(found.latency - latency) < 3 * found.uncertainty + 0.002
    assert found.correlation > 0.95 and found.scale == pytest.approx(1.0, abs=0.1)


def test_it_is_typically_within_five_milliseconds() -> None:
    errors = [estimate_latency(*record(0.01 * seed, seed)).latency - 0.01 * seed for seed in range(20)]
    assert sorted(map(abs, errors))[18] < 0.005
    assert abs(float(np.mean(errors))) < 0.002


@pytest.mark.parametrize("faults", [{"glitches": 0.05}, {"dropped": 0.4}, {"velocity": 0.2}, {"scale": 0.8}])
def test_what_cameras_do_changes_little(faults: dict[str, float]) -> None:
    found = estimate_latency(*record(0.083, 5, **faults))
    assert found.latency == pytest.approx(0.083, abs=0.012)


def test_stamps_may_be_early_too() -> None:
    assert estimate_latency(*record(-0.05)).latency == pytest.approx(-0.05, abs=0.008)


@pytest.mark.parametrize(
    ("faults", "named"),
    [
        ({"scale": -1.0}, "check-signs"),
        ({"scale": 0.0}, "do not move as the head does"),
        ({"scale": 3.0}, "focal length"),
        ({"noise": 0.02}, "do not move as the head does"),
        ({"dropped": 0.95}, "pairs of pictures"),
        ({"amplitude": 0.01}, "the head turned by"),
    ],
)
def test_what_tells_nothing_is_refused(faults: dict[str, float], named: str) -> None:
    with pytest.raises(LatencyError, match=named):
        estimate_latency(*record(0.05, **faults))


def test_a_head_that_says_nothing_is_named() -> None:
    with pytest.raises(LatencyError, match="pose"):
        estimate_latency(record(0.05)[0], [])


def test_clocks_far_apart_are_named() -> None:
    with pytest.raises(LatencyError):
        estimate_latency(*record(2.0))


@pytest.fixture(scope="module")
def sampler(tmp_path_factory: pytest.TempPathFactory) -> ViewSampler:
    path = tmp_path_factory.mktemp("shift") / "panorama.png"
    noise = np.random.default_rng(0).integers(0, 255, (128, 256, 3), dtype=np.uint8)
    cv2.imwrite(str(path), cv2.resize(noise, (2048, 1024), interpolation=cv2.INTER_CUBIC))
    return ViewSampler(open_panorama(path), Camera(640, 480, 70.0))


def noisy(picture: Picture, seed: int) -> Picture:
    noise = np.random.default_rng(seed).normal(0.0, 5.0, picture.shape)
    return np.asarray(np.clip(picture + noise, 0, 255), np.uint8)


@pytest.mark.parametrize("turned_deg", [0.0, 90.0, -90.0, 180.0, 30.0])
@pytest.mark.parametrize("left_deg", [1.5, -0.7, 0.2, 0.0])
def test_turns_are_seen_in_pictures(sampler: ViewSampler, turned_deg: float, left_deg: float) -> None:
    before = noisy(sampler.render(200.0, 0.0, turned_deg), 1)
    after = noisy(sampler.render(200.0 - left_deg, 0.0, turned_deg), 2)
    # The lighting changes as well.
    after = np.asarray(after * 0.8, np.uint8)
    turned = math.radians(turned_deg)
    shift = image_shift(middle_of(before), middle_of(after), turned)
    assert shift is not None
    focal = 320 / math.tan(math.radians(35.0))
    extent = 480 if abs(math.sin(turned)) > 0.7 else 640
    assert turn_angle(shift, focal, extent) == pytest.approx(math.radians(left_deg), abs=0.0015)


def test_large_pictures_are_made_small() -> None:
    large = cv2.resize(np.random.default_rng(0).integers(0, 255, (27, 48, 3), dtype=np.uint8), (1920, 1080))
    moved = np.roll(large, 24, axis=1)
    middle = middle_of(large)
    assert max(middle.grey.shape) <= 320
    assert image_shift(middle, middle_of(moved)) == pytest.approx(24.0, abs=2.0)


def test_where_nothing_is_to_be_seen_there_is_no_shift() -> None:
    wall = np.full((480, 640, 3), 200, np.uint8)
    view = noisy(wall, 1)
    assert image_shift(middle_of(wall), middle_of(view)) is None
    assert image_shift(middle_of(view), middle_of(noisy(wall[:240, :320], 1))) is None


@pytest.mark.parametrize("pattern_moves", [0, 40])
def test_the_pattern_of_noise_is_not_taken_for_the_surroundings(sampler: ViewSampler, pattern_moves: int) -> None:
    noise = np.random.default_rng(3).normal(0.0, 8.0, (480, 640, 3))
    views = [sampler.render(200.0 - left, 0.0, 0.0).astype(float) for left in (0.0, 1.5)]
    before, after = (
        np.asarray(np.clip(view + np.roll(noise, shift, axis=1), 0, 255), np.uint8)
        for view, shift in zip(views, (0, pattern_moves), strict=True)
    )
    shift = image_shift(middle_of(before), middle_of(after))
    assert shift is not None
    assert turn_angle(shift, 320 / math.tan(math.radians(35.0)), 640) == pytest.approx(math.radians(1.5), abs=0.0015)
