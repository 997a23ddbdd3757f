"""Where a head looks: against finite differences, against what the URDF says, and what is said when it does not fit."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("pinocchio")

from heads import ARM, MADE_UP, PAN_TILT, REAL, ROUND, Joint, head, real, robot, urdf

from hvs_ros.angles import OPTICAL_IN_GAZE, Quaternion, gaze_quaternion, wrap_rad
from hvs_ros.neck.kinematics import GazeKinematics
from hvs_ros.neck.robot import BaseFrame, HeadCameraMount, NeckJoint, RobotError

share = st.floats(0.0, 1.0)


def joints_of(kinematics: GazeKinematics, shares: list[float]) -> tuple[float, ...]:
    """Return joint angles spread over the range; a joint without a stop over two turns."""
    return tuple(
        -6.0 + 12.0 * part if limit.continuous else limit.lower + part * (limit.upper - limit.lower)
        for limit, part in zip(kinematics.limits, shares, strict=False)
    )


def heads() -> list[str]:
    return [*MADE_UP, *(f"real {name}" for name in REAL)]


def named(name: str) -> GazeKinematics:
    return real(name.removeprefix("real ")) if name.startswith("real ") else head(MADE_UP[name])


@pytest.mark.parametrize("name", heads())
@settings(max_examples=25, deadline=None)
@given(shares=st.lists(share, min_size=6, max_size=6))
def test_yaw_pitch_and_roll_are_those_of_the_optical_frame(name: str, shares: list[float]) -> None:
    kinematics = named(name)
    q = joints_of(kinematics, shares)
    state = kinematics.gaze(q)
    gaze = rotation(gaze_quaternion(state.yaw, state.pitch, state.roll))
    turned = math.pi / 2 if name == "real stretch" else 0.0
    sine, cosine = math.sin(turned), math.cos(turned)
    about_z = np.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])
    optical = gaze @ rotation(OPTICAL_IN_GAZE) @ about_z
    np.testing.assert_allclose(kinematics.optical(q).rotation, optical, atol=1e-9)


@pytest.mark.parametrize("name", heads())
@settings(max_examples=25, deadline=None)
@given(shares=st.lists(share, min_size=6, max_size=6), rates=st.lists(st.floats(-1, 1), min_size=6, max_size=6))
def test_velocities_are_those_of_finite_differences(name: str, shares: list[float], rates: list[float]) -> None:
    kinematics = named(name)
    q = joints_of(kinematics, shares)
    dq = tuple(rates[: len(q)])
    state = kinematics.gaze(q, dq)
    assume(abs(state.pitch) < 1.4)
    h = 1e-6
    before, after = (kinematics.gaze(tuple(x + side * h * v for x, v in zip(q, dq, strict=True))) for side in (-1, 1))
    assert state.yaw_velocity == pytest.approx(wrap_rad(after.yaw - before.yaw) / (2 * h), abs=1e-3)
    assert state.pitch_velocity == pytest.approx((after.pitch - before.pitch) / (2 * h), abs=1e-3)


def test_at_rest_nothing_turns() -> None:
    state = head(PAN_TILT).gaze((0.3, 0.2), (0.0, 0.0))
    assert (state.yaw_velocity, state.pitch_velocity) == (0.0, 0.0)


def test_a_joint_without_a_stop_counts_its_turns() -> None:
    kinematics = head(ROUND)
    assert kinematics.limits[0].continuous
    for pan in (-7.0, 0.5, 9.0):
        assert kinematics.gaze((pan, 0.3)).yaw == pytest.approx(pan)


@pytest.mark.parametrize("tilt", [-math.pi / 2, math.pi / 2])
def test_straight_up_and_down_are_well_behaved(tilt: float) -> None:
    kinematics = head((Joint("pan", "0 0 1", lower=-2, upper=2), Joint("tilt", "0 1 0", lower=-2, upper=2)))
    state = kinematics.gaze((0.7, tilt), (0.5, 0.2))
    assert state.pitch == pytest.approx(tilt)
    assert state.yaw == pytest.approx(0.7)
    assert state.roll == pytest.approx(0.0, abs=1e-6)
    assert math.isfinite(state.yaw_velocity)
    assert state.pitch_velocity == pytest.approx(0.2)


@pytest.mark.parametrize("turned", [0.0, math.pi / 2, -math.pi / 2, 2.5])
def test_a_camera_mounted_turned_looks_upright(turned: float) -> None:
    about_sight = f"{-math.pi / 2} {turned} {-math.pi / 2}"
    text = urdf(PAN_TILT, optical=about_sight)
    kinematics = GazeKinematics(text, robot(["pan", "tilt"]))
    crooked = kinematics.gaze((0.4, 0.0)).roll
    upright = GazeKinematics(text, robot(["pan", "tilt"], turned=crooked))
    assert upright.gaze((0.4, 0.0)).roll == pytest.approx(0.0, abs=1e-9)
    assert upright.gaze((0.4, 0.3)).pitch == kinematics.gaze((0.4, 0.3)).pitch


def test_the_base_frame_may_be_turned_in_its_link() -> None:
    backwards = replace(robot(["pan", "tilt"]), base=BaseFrame("base", (0.0, 0.0, math.pi)))
    assert abs(GazeKinematics(urdf(PAN_TILT), backwards).gaze((0.0, 0.0)).yaw) == pytest.approx(math.pi)


def test_a_camera_that_the_urdf_lacks_is_mounted_on_a_link() -> None:
    mount = HeadCameraMount("eye", parent="link_1", xyz=(0.05, 0.0, 0.02), rpy=(-math.pi / 2, 0.0, -math.pi / 2))
    there = GazeKinematics(urdf(PAN_TILT), robot(["pan", "tilt"])).optical((0.5, 0.2))
    added = GazeKinematics(urdf(PAN_TILT), replace(robot(["pan", "tilt"]), camera=mount)).optical((0.5, 0.2))
    np.testing.assert_allclose(added.position, there.position)
    np.testing.assert_allclose(added.rotation, there.rotation, atol=1e-9)


def test_joints_are_neck_torso_and_what_is_only_measured() -> None:
    chain = (Joint("lift", "0 0 1", kind="prismatic"), Joint("waist", "0 0 1"), *PAN_TILT)
    kinematics = GazeKinematics(urdf(chain), robot(["tilt", "pan"], torso=["waist"]))
    assert kinematics.joints == ("tilt", "pan", "waist", "lift")
    assert (kinematics.neck, kinematics.torso) == ((0, 1), (2,))
    assert kinematics.gaze((0.2, 0.3, 0.4, 0.5)).yaw == pytest.approx(0.7)
    at = kinematics.optical((0.0, 0.0, 0.0, 0.5)).position[2]
    assert at == pytest.approx(0.5 + kinematics.optical((0.0, 0.0, 0.0, 0.0)).position[2])


def test_the_narrowest_limit_holds() -> None:
    soft = '<safety_controller soft_lower_limit="-0.8" soft_upper_limit="0.9" k_velocity="1"/>'
    chain = (Joint("pan", "0 0 1", more=soft), Joint("tilt", "0 1 0", lower=0.2, upper=1.0))
    mine = replace(robot([]), neck=(NeckJoint("pan", upper=0.5, max_velocity=9.0), NeckJoint("tilt")))
    kinematics = GazeKinematics(urdf(chain), mine)
    pan = kinematics.limits[0]
    assert (pan.lower, pan.upper, pan.max_velocity, pan.continuous) == (-0.8, 0.5, 3.0, False)
    assert kinematics.neutral == (0.0, 0.2)


def test_limits_make_a_continuous_joint_a_limited_one() -> None:
    mine = replace(robot([]), neck=(NeckJoint("pan", lower=-1.0, upper=2.0), NeckJoint("tilt")))
    assert not GazeKinematics(urdf(ROUND), mine).limits[0].continuous


MIMIC = '<mimic joint="pan" multiplier="-1"/>'


@pytest.mark.parametrize(
    ("text", "neck", "said"),
    [
        (urdf(PAN_TILT), ["pann", "tilt"], "the URDF has no joint 'pann'; did you mean pan?"),
        (urdf(PAN_TILT), ["pan", "camera"], r"joint 'camera' is fixed; a joint that turns"),
        (urdf((Joint("lift", "0 0 1", kind="prismatic"), *PAN_TILT)), ["lift"], "joint 'lift' is prismatic; a joint"),
        (urdf((*PAN_TILT, Joint("nod", "0 1 0", more=MIMIC))), ["pan"], r"joint 'nod' \(revolute\) .* mimics 'pan'"),
        (urdf((Joint("free", "0 0 1", kind="floating"), *PAN_TILT)), ["pan"], "joint 'free' between .* is floating"),
        (urdf((Joint("pan", "0 0 1", lower=0, upper=0),)), ["pan"], r"joint 'pan' \(revolute\) has no range: .* 0 to"),
        (urdf((Joint("pan", "0 0 1", lower="a"),)), ["pan"], "joint 'pan': limit lower is 'a'; a number is expected"),
        (urdf(PAN_TILT).replace('"base"', '"body"'), ["pan"], "the URDF has no link 'base', which is to be the base"),
        (urdf(PAN_TILT).replace('"optical"', '"optic"'), ["pan"], "no link 'optical', .* optical frame.* mean optic"),
        (urdf(PAN_TILT, more=ARM), ["pan", "elbow"], r"joint 'elbow' \(revolute\) is not between 'base' and 'optical'"),
        ("<sdf/>", ["pan"], "the robot description is a <sdf>; a URDF, <robot>, is expected"),
        ("<robot", ["pan"], "the robot description is not XML"),
    ],
)
def test_what_does_not_fit_is_named(text: str, neck: list[str], said: str) -> None:
    with pytest.raises(RobotError, match=said):
        GazeKinematics(text, robot(neck))


def test_a_base_that_moves_against_the_camera_is_refused() -> None:
    with pytest.raises(RobotError, match=r"joint 'elbow' \(revolute\) moves the base link 'arm' itself"):
        GazeKinematics(urdf(PAN_TILT, more=ARM), replace(robot(["pan"]), base=BaseFrame("arm")))


def test_a_base_frame_may_hang_on_the_chain() -> None:
    foot = '<link name="foot"/><joint name="to_foot" type="fixed"><parent link="base"/><child link="foot"/></joint>'
    mine = replace(robot(["pan", "tilt"]), base=BaseFrame("foot"))
    assert GazeKinematics(urdf(PAN_TILT, more=foot), mine).gaze((0.4, 0.0)).yaw == pytest.approx(0.4)


def rotation(q: Quaternion) -> np.ndarray:
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.mark.parametrize(
    "broken",
    [
        urdf(PAN_TILT, more='<link name="optical"/>'),
        urdf(PAN_TILT, more='<link name="floating"/>'),
        urdf(PAN_TILT).replace('xyz="0.01 0.02 0.1"', 'xyz="0,01 0,02 0,1"'),
        urdf(PAN_TILT).replace(' effort="1"', ""),
    ],
)
def test_a_urdf_that_the_parser_refuses_is_an_error_that_explains_itself(broken: str) -> None:
    with pytest.raises(RobotError, match=r"the URDF cannot be used: .*valid URDF"):
        GazeKinematics(broken, robot(["pan", "tilt"]))
