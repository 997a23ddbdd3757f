"""Joint angles for a direction: exact where it can be reached, the nearest where it cannot, never beyond a stop."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pinocchio")

from heads import MADE_UP, PAN_TILT, ROUND, THREE, WIDE, Joint, head, real, robot, urdf

from hvs_ros.neck.kinematics import GazeKinematics
from hvs_ros.neck.reach import reachable
from hvs_ros.neck.solver import MOST_TORSO_ROLL_RAD, GazeSolver, Solution

share = st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0]))
shares = st.lists(share, min_size=6, max_size=6)
HEADS = [*MADE_UP, "icub", "stretch", "vega"]


@cache
def solver_of(name: str, torso: bool = False) -> GazeSolver:
    return GazeSolver(head(MADE_UP[name]) if name in MADE_UP else real(name), torso=torso)


def spread(kinematics: GazeKinematics, parts: list[float], moved: tuple[int, ...]) -> tuple[float, ...]:
    """Return joint angles all over the range of those that are moved, the others at neutral."""
    return tuple(
        (-3.0 + 6.0 * part if limit.continuous else limit.lower + part * (limit.upper - limit.lower))
        if index in moved
        else kinematics.neutral[index]
        for index, (limit, part) in enumerate(zip(kinematics.limits, parts, strict=False))
    )


def check(solver: GazeSolver, solution: Solution) -> None:
    """Whatever was asked: inside the limits, and what it says of itself is so."""
    kinematics = solver.kinematics
    for limit, value in zip(kinematics.limits, solution.joints, strict=True):
        assert limit.lower <= value <= limit.upper
    state = kinematics.gaze(solution.joints)
    assert (solution.yaw, solution.pitch, solution.roll) == (state.yaw, state.pitch, state.roll)


def angle(solver: GazeSolver, joints: tuple[float, ...], yaw: float, pitch: float) -> float:
    """Return the angle between a direction and the line of sight of the joints, rad."""
    sight = solver.kinematics.optical(joints).rotation[:, 2]
    wanted = (math.cos(yaw) * math.cos(pitch), math.sin(yaw) * math.cos(pitch), -math.sin(pitch))
    return math.atan2(float(np.linalg.norm(np.cross(sight, wanted))), float(sight @ wanted))


@pytest.mark.parametrize("name", HEADS)
@settings(max_examples=80, deadline=None)
@given(there=shares, here=shares)
def test_every_direction_that_can_be_reached_is(name: str, there: list[float], here: list[float]) -> None:
    solver = solver_of(name)
    kinematics = solver.kinematics
    pose = spread(kinematics, there, kinematics.neck)
    target = kinematics.gaze(pose)
    solution = solver.solve(target.yaw, target.pitch, spread(kinematics, here, kinematics.neck))
    check(solver, solution)
    assert solution.reached
    error = angle(solver, solution.joints, target.yaw, target.pitch)
    assert error < math.radians(0.1)
    assert solution.error == pytest.approx(error, abs=1e-8)
    if len(kinematics.neck) == 2:
        assert error < 1e-8


@pytest.mark.parametrize("name", ["icub", "three"])
@settings(max_examples=60, deadline=None)
@given(there=st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6), here=shares)
def test_the_picture_is_as_level_as_it_can_be(name: str, there: list[float], here: list[float]) -> None:
    solver = solver_of(name)
    kinematics = solver.kinematics
    pose = spread(kinematics, there, kinematics.neck)
    target = kinematics.gaze(pose)
    solution = solver.solve(target.yaw, target.pitch, spread(kinematics, here, kinematics.neck))
    assert abs(solution.roll) <= abs(target.roll) + math.radians(1.0)


@cache
def directions(name: str, per_joint: int) -> np.ndarray:
    """Return the line of sight of a grid of the neck's joint angles, (k, 3)."""
    kinematics = solver_of(name).kinematics
    parts = np.linspace(0.0, 1.0, per_joint)
    neck = len(kinematics.neck)
    poses = (spread(kinematics, [*point, 0.5, 0.5, 0.5], kinematics.neck) for point in product(parts, repeat=neck))
    return np.array([kinematics.rotation_and_jacobian(np.array(pose))[0][:, 0] for pose in poses])


@pytest.mark.parametrize(("name", "per_joint"), [("pan_tilt", 120), ("tilt_first", 120), ("three", 24), ("icub", 24)])
@settings(max_examples=60, deadline=None)
@given(yaw=st.floats(-math.pi, math.pi), height=st.floats(-1.0, 1.0), here=shares)
def test_out_of_reach_nothing_is_nearer(
    name: str, per_joint: int, yaw: float, height: float, here: list[float]
) -> None:
    solver = solver_of(name)
    pitch = -math.asin(height)
    solution = solver.solve(yaw, pitch, spread(solver.kinematics, here, solver.kinematics.neck))
    check(solver, solution)
    assert solution.error == pytest.approx(angle(solver, solution.joints, yaw, pitch), abs=1e-7)
    wanted = np.array([math.cos(yaw) * math.cos(pitch), math.sin(yaw) * math.cos(pitch), height])
    nearest = math.acos(min(1.0, float((directions(name, per_joint) @ wanted).max())))
    assert solution.error <= nearest + 1e-3


@given(yaw=st.floats(-20.0, 20.0), now=st.floats(-20.0, 20.0))
@settings(deadline=None)
def test_without_a_stop_the_short_way_is_taken(yaw: float, now: float) -> None:
    solution = solver_of("round").solve(yaw, 0.2, (now, 0.0))
    assert abs(solution.joints[0] - now) <= math.pi + 1e-9
    assert math.remainder(solution.joints[0] - yaw, 2 * math.pi) == pytest.approx(0.0, abs=1e-7)


def test_with_stops_the_long_way_is_taken_rather_than_through_them() -> None:
    solver = GazeSolver(head((Joint("pan", "0 0 1", lower=-3.0, upper=3.0), PAN_TILT[1])))
    assert solver.solve(-2.9, 0.0, (2.9, 0.0)).joints[0] == pytest.approx(-2.9)


def test_of_two_turns_the_nearer_is_taken() -> None:
    solver = solver_of("wide")
    assert solver.solve(3.0, 0.0, (-3.5, 0.0)).joints[0] == pytest.approx(3.0 - 2 * math.pi)
    assert solver.solve(3.0, 0.0, (2.5, 0.0)).joints[0] == pytest.approx(3.0)
    assert WIDE[0].upper == 4.0


def test_straight_up_the_pan_stays() -> None:
    solver = GazeSolver(head((PAN_TILT[0], Joint("tilt", "0 1 0", lower=-1.6, upper=1.6))))
    assert solver.solve(-1.0, -math.pi / 2, (0.7, 0.0)).joints == pytest.approx((0.7, -math.pi / 2), abs=1e-6)


def test_joints_a_little_beyond_their_stops_are_no_obstacle() -> None:
    solution = solver_of("pan_tilt").solve(0.5, 0.1, (2.52, -1.01))
    assert solution.joints == pytest.approx((0.5, 0.1), abs=1e-7)


WITH_WAIST = (Joint("waist", "0 0 1", lower=-0.8, upper=0.8), *THREE)


def waisted(torso: bool) -> GazeSolver:
    kinematics = GazeKinematics(urdf(WITH_WAIST), robot([joint.name for joint in THREE], torso=["waist"]))
    return GazeSolver(kinematics, torso=torso)


def test_the_torso_helps_only_where_the_neck_is_not_enough() -> None:
    solver = waisted(True)
    assert solver.solve(0.9, 0.1, (0.0,) * 4).joints[3] == 0.0
    beyond = solver.solve(1.5, 0.0, (0.0,) * 4)
    assert beyond.reached
    # The neck's yaw goes all the way first.
    assert beyond.joints[3] == pytest.approx(0.5, abs=0.03)
    assert waisted(False).solve(1.5, 0.0, (0.0,) * 4).error == pytest.approx(0.5, abs=0.03)


def test_a_torso_that_is_not_allowed_stays_where_it_is_and_counts() -> None:
    solution = waisted(False).solve(1.5, 0.0, (0.0, 0.0, 0.0, 0.7))
    assert solution.joints[3] == 0.7
    assert solution.reached
    assert solution.yaw == pytest.approx(1.5, abs=1e-3)


def test_a_joint_between_those_that_are_moved_counts_too() -> None:
    chain = (PAN_TILT[0], Joint("lean", "1 0 0"), PAN_TILT[1])
    solver = GazeSolver(GazeKinematics(urdf(chain), robot(["pan", "tilt"])))
    for lean in (0.0, 0.6, -0.9):
        solution = solver.solve(0.4, 0.3, (0.0, 0.0, lean))
        assert solution.reached
        assert solution.joints[2] == lean


@pytest.mark.parametrize("name", ["icub", "vega"])
@settings(max_examples=25, deadline=None)
@given(there=shares, here=shares)
def test_with_a_torso_every_upright_direction_is_reached(name: str, there: list[float], here: list[float]) -> None:
    solver = solver_of(name, torso=True)
    kinematics = solver.kinematics
    # A little inside the limits: six joints all at their stops look where no other angles do.
    inside = [0.03 + 0.94 * part for part in there]
    target = kinematics.gaze(spread(kinematics, inside, solver.moved))
    solution = solver.solve(target.yaw, target.pitch, spread(kinematics, here, solver.moved))
    check(solver, solution)
    if abs(target.roll) < 0.8 * MOST_TORSO_ROLL_RAD:
        assert angle(solver, solution.joints, target.yaw, target.pitch) < math.radians(0.1)


def test_a_torso_does_not_bend_the_head_to_its_side() -> None:
    solver = solver_of("icub", torso=True)
    for yaw in (1.5, 1.8, 2.0, 2.3, 3.0):
        solution = solver.solve(yaw, 0.0, solver.kinematics.neutral)
        assert abs(solution.roll) <= MOST_TORSO_ROLL_RAD + 1e-6
        assert solution.reached or solution.error > 0.0
    limits = reachable(solver, solver.kinematics.neutral)
    assert math.radians(95) < limits.yaw_max < math.radians(125)


def test_what_can_be_reached_of_a_rectangle_is_the_rectangle() -> None:
    solver = solver_of("pan_tilt")
    limits = reachable(solver, (1.0, 0.3))
    expected = (-2.0, 2.5, -1.0, 1.2)
    assert (limits.yaw_min, limits.yaw_max, limits.pitch_min, limits.pitch_max) == pytest.approx(expected, abs=1e-6)


def test_a_pan_without_a_stop_reaches_all_round() -> None:
    assert reachable(solver_of("round"), (5.0, 0.0)).yaw_continuous
    assert reachable(solver_of("wide"), (0.0, 0.0)).yaw_continuous
    assert ROUND[0].kind == "continuous"


def test_a_torso_that_is_turned_turns_what_can_be_reached() -> None:
    ahead, aside = (reachable(waisted(False), (0.0, 0.0, 0.0, waist)) for waist in (0.0, 0.5))
    assert aside.yaw_min == pytest.approx(ahead.yaw_min + 0.5, abs=1e-3)
    assert reachable(waisted(True), (0.0,) * 4).yaw_max == pytest.approx(ahead.yaw_max + 0.8, abs=1e-2)
