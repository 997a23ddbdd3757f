"""What the published environment tells the model about its last action, read from the user's own checkout.

Its prompt module leaves that text to the environment (``env.py`` beside it), which needs a whole training stack to be
imported. So the text is read out of the source without running it: what is assigned to ``info["env_feedback"]`` is one
text for an action that was done, with the direction in it, and one for any other. Where it cannot be found, words of
our own say the same.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from pathlib import Path

from hvs_ros.policy.prompt import Done

_KEY = "env_feedback"


# What stands for the angles in the text; no source file holds such characters.
_YAW, _PITCH = "\0yaw\0", "\0pitch\0"


@dataclass(frozen=True)
class Feedback:
    """Texts for a model.

    Attributes:
        done: after an action that was done, with places for the angles.
        not_done: after any other answer.
        source: where they come from, for the record.
    """

    done: str
    not_done: str
    source: str

    def text(self, done: Done, yaw: int, pitch: int) -> str:
        """Return what to tell.

        Args:
            done: what came of the answer. The published head goes as far as it can and calls that done.
            yaw: where the head looks now, in degrees.
            pitch: likewise.
        """
        if done not in (Done.DONE, Done.CLAMPED):
            return self.not_done
        return self.done.replace(_YAW, str(yaw)).replace(_PITCH, str(pitch))


OWN = Feedback(
    done=f"The action was carried out; the camera now looks at (yaw,pitch) = ({_YAW},{_PITCH}).",
    not_done="The last answer could not be carried out.",
    source="feedback in own words",
)


def feedback_beside(prompt: Path) -> Feedback:
    """Return the texts of the ``env.py`` in the folder of a prompt.py, or our own."""
    path = prompt.parent / "env.py"
    try:
        data = path.read_bytes()
        found = _find(ast.parse(data))
    except (OSError, SyntaxError, ValueError):
        return OWN
    if found is None:
        return OWN
    return Feedback(*found, source=f"feedback of env.py {hashlib.sha256(data).hexdigest()[:16]}")


def _find(tree: ast.AST) -> tuple[str, str] | None:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not any(map(_is_key, node.targets)):
            continue
        value = node.value
        if not isinstance(value, ast.IfExp) or not isinstance(value.body, ast.JoinedStr):
            continue
        pieces = [_piece(part) for part in value.body.values]
        other = value.orelse
        if isinstance(other, ast.Constant) and isinstance(other.value, str) and None not in pieces:
            return "".join(piece or "" for piece in pieces), other.value
    return None


def _is_key(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and target.slice.value == _KEY


def _piece(part: ast.expr) -> str | None:
    """Return a piece of an f-string: its text, or the place of an angle; None: something else."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    value = part.value if isinstance(part, ast.FormattedValue) and part.format_spec is None else None
    name = value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else ""
    return {"yaw": _YAW, "pitch": _PITCH}.get(name)
