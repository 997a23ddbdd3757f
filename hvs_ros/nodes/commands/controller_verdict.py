"""What a trajectory controller says of a goal, in words.

The codes are those of control_msgs/FollowJointTrajectory; they are written down here so that they have words even where
control_msgs is not installed.
"""

from __future__ import annotations

from collections.abc import Sequence

from action_msgs.msg import GoalStatus

from hvs_ros.neck.commands import Verdict

_CODES = {
    -1: "INVALID_GOAL: it does not accept this motion",
    -2: "INVALID_JOINTS: its joints are others",
    -3: "OLD_HEADER_TIMESTAMP: the motion lies in its past; does it use the same clock (use_sim_time)?",
    -4: "PATH_TOLERANCE_VIOLATED: a joint strayed from its path by more than the controller's constraints allow",
    -5: "GOAL_TOLERANCE_VIOLATED: a joint did not come as near to its goal, in time, as the constraints ask",
    -6: "TRAJECTORY_ABORTED: it gave the motion up",
}


def controller_verdict(
    server: str, joints: Sequence[str], accepted: bool | None, status: int | None, code: int, text: str
) -> Verdict | None:
    """Return the verdict on a goal; None: it is under way.

    Args:
        server: name of the action.
        joints: names of the joints in the goal.
        accepted: whether the goal was; None: that is not known yet.
        status: GoalStatus of its end; None: it has not ended.
        code: error_code of the result.
        text: error_string of the result, the controller's own words.
    """
    if accepted is False:
        return Verdict(
            False,
            f"{server} refused the goal; is its controller active, and are its joints exactly {', '.join(joints)}"
            " (if it has more: allow_partial_joints_goal: true)? Its log says why",
        )
    if status is None:
        return None
    own = f"; it says: {text.strip()}" if text.strip() else ""
    if status == GoalStatus.STATUS_SUCCEEDED and code == 0:
        return Verdict(True, text.strip())
    if code in _CODES:
        return Verdict(False, f"{server} failed with {_CODES[code]}{own}")
    if status == GoalStatus.STATUS_CANCELED:
        return Verdict(False, f"{server} canceled the motion: somebody else commands these joints or stopped them{own}")
    ended = "aborted the motion" if code == 0 else f"failed with the error code {code}"
    return Verdict(False, f"{server} {ended}{own}")
