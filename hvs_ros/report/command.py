"""What a policy commanded, for a person."""

from __future__ import annotations

from hvs_ros.recording.episode import RecordedTurn
from hvs_ros.search.action import Rotate, Submit


def command(turn: RecordedTurn) -> str:
    """Return what the policy commanded, for a person."""
    action = turn.decision.action
    if isinstance(action, Rotate):
        parts = []
        if action.dyaw_deg:
            parts.append(f"{abs(action.dyaw_deg):g}° {'right' if action.dyaw_deg > 0 else 'left'}")
        if action.dpitch_deg:
            parts.append(f"{abs(action.dpitch_deg):g}° {'up' if action.dpitch_deg > 0 else 'down'}")
        return f"rotate {', '.join(parts) or 'by nothing'}"
    if isinstance(action, Submit):
        return f"submit yaw {action.yaw_deg:g}°, pitch {action.pitch_deg:g}°"
    return "no valid action"
