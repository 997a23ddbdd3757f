"""What a model said -> an action, or the name of what is wrong with it.

Three ways to read an answer:

``strict``
    Nothing but the format that was asked for, and one action in it.
``lenient``
    As the published evaluation reads it since January 2026: the thought may be missing, the first answer counts, and of
    several actions, separated by ``|``, the first. (It reads the format without a thought, and the grounded one, as
    narrowly as before.)
``lenient+``
    Whatever can be understood: also decimals, which are rounded, names of angles, degree signs, other brackets, an
    answer that is not closed.

Angles are whole degrees. A text that was cut off at the token limit is not acted on, unless it holds an answer that is
closed, which only ``strict`` does not read then. What the model said is kept as it came, whatever is made of it here.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from hvs_ros.policy.model_settings import ParserMode, Thought
from hvs_ros.search.action import LIMIT_DEG, Action, Rotate, Submit
from hvs_ros.search.decision import ParseStatus

_TAGS = re.compile(r"</?(?:think|answer)>")
_INNER_TAGS = re.compile(r"(?:\s*</?(?:observation|reasoning)>\s*)+")
_OPEN, _CLOSE, _END_OF_THOUGHT = "<answer>", "</answer>", "</think>"

_ANSWER = r"<answer>(?P<answer>(?:(?!</answer>).)*)</answer>"
_THINK = r"<think>(?:(?!</think>).)*</think>\s*"
_GROUNDS = (
    r"<think>\s*<observation>(?:(?!</observation>).)*</observation>\s*"
    r"<reasoning>(?:(?!</reasoning>).)*</reasoning>\s*</think>\s*"
)
_STRICT = {
    Thought.FREE: re.compile(rf"\s*{_THINK}{_ANSWER}\s*", re.DOTALL),
    Thought.NONE: re.compile(rf"\s*{_ANSWER}\s*", re.DOTALL),
    Thought.GROUNDED: re.compile(rf"\s*{_GROUNDS}{_ANSWER}\s*", re.DOTALL),
}
_JOINTS = {
    Thought.FREE: (re.compile(r"<think>"), re.compile(r"</think>\s*<answer>")),
    Thought.NONE: (re.compile(r"<answer>"),),
    Thought.GROUNDED: (
        re.compile(r"<think>\s*<observation>"),
        re.compile(r"</observation>\s*<reasoning>"),
        re.compile(r"</reasoning>\s*</think>\s*<answer>"),
    ),
}
"""What an answer begins with, and where its parts meet."""
_GROUNDED_ANSWER = re.compile(_GROUNDS + _ANSWER, re.DOTALL)

# The published code takes the action's name and the brackets off and gives the first two numbers to Python's int().
_INT = r"\s*([+-]?\d+(?:_\d+)*)\s*"
_PLAIN = re.compile(rf"(?P<name>rotate|submit)[()]*{_INT},(?:{_INT}[()]*|{_INT},.*)", re.DOTALL)

_NUMBER = r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*(?:°|deg\w*)?"
_LOOSE = re.compile(
    rf"\b(?P<name>rotate|submit)[\s:=(\[{{]*(?:\w*yaw\s*[:=]\s*)?{_NUMBER}(?:\s*[,;]\s*|\s+)(?:\w*pitch\s*[:=]\s*)?{_NUMBER}",
    re.IGNORECASE,
)
_KINDS: dict[str, type[Rotate] | type[Submit]] = {"rotate": Rotate, "submit": Submit}


@dataclass(frozen=True)
class Parsed:
    """What an answer turned out to be.

    Attributes:
        status: its name.
        action: None exactly when the status is not OK.
        extracted: the action as it was written; empty unless OK.
        thought: the reasoning before the answer, as far as there is any.
    """

    status: ParseStatus
    action: Action | None = None
    extracted: str = ""
    thought: str = ""


def parse(
    text: str,
    *,
    truncated: bool = False,
    mode: ParserMode = ParserMode.LENIENT,
    thought: Thought = Thought.FREE,
) -> Parsed:
    """Return what an answer turned out to be.

    Args:
        text: what the model said.
        truncated: the token limit ended it.
        mode: how it is read.
        thought: which format was asked for.
    """
    said = thought_in(text)
    if truncated and (mode is ParserMode.STRICT or _first(text) is None):
        return Parsed(ParseStatus.TRUNCATED, thought=said)
    text = text.replace("<image>", "")
    answer = _answer(text, mode, thought)
    if truncated and answer is None:
        return Parsed(ParseStatus.TRUNCATED, thought=said)
    actions = [part.strip() for part in _TAGS.sub("", answer or "").split("|") if part.strip()]
    if not actions:
        return Parsed(ParseStatus.NO_ANSWER, thought=said)
    if mode is ParserMode.STRICT and len(actions) > 1:
        return Parsed(ParseStatus.SEVERAL_ACTIONS, thought=said)
    status, action = _plain(actions[0])
    if status is ParseStatus.BAD_ACTION and mode is ParserMode.LENIENT_PLUS:
        status, action = _loose(actions[0])
    return Parsed(status, action, actions[0] if action is not None else "", said)


def thought_in(text: str) -> str:
    """Return the reasoning in an answer, without its tags; without ``<think>``, what stands before the answer."""
    start = text.find("<think>")
    begin = start + len("<think>") if start >= 0 else 0
    end = text.find(_END_OF_THOUGHT, begin)
    if end < 0:
        end = text.find(_OPEN, begin)
    return _INNER_TAGS.sub("\n", text[begin : end if end >= 0 else None]).strip()


def well_formed(text: str, thought: Thought = Thought.FREE) -> bool:
    """Return whether an answer keeps the form that was asked for, as the published code rewards it in training.

    That is its tags alone, all of them and in order, with nothing before or after; neither that the action can be done
    nor that a tag occurs only once.
    """
    text = text.replace("<image>", "").strip()
    if not text.endswith(_CLOSE):
        return False
    first, *later = _JOINTS[thought]
    end = len(text) - len(_CLOSE)
    found = first.match(text, 0, end)
    for joint in later:
        found = joint.search(text, found.end(), end) if found else None
    return found is not None


def _answer(text: str, mode: ParserMode, thought: Thought) -> str | None:
    """Return what stands between the answer's tags; None: there is no answer in the form that the mode accepts."""
    if mode is ParserMode.LENIENT_PLUS:
        answer = _intended(text.lstrip())
        return _unclosed(text) if answer is None else answer
    if _CLOSE not in text:
        return None
    if mode is ParserMode.STRICT:
        found = _STRICT[thought].fullmatch(text)
    elif thought is Thought.GROUNDED:
        found = _GROUNDED_ANSWER.search(text)
    elif thought is Thought.FREE or (text.strip().startswith(_OPEN) and text.strip().endswith(_CLOSE)):
        return _intended(text)
    else:
        return None
    return None if found is None else found["answer"]


def _first(text: str, start: int = 0) -> str | None:
    begin = text.find(_OPEN, start)
    end = text.find(_CLOSE, begin)
    return text[begin + len(_OPEN) : end] if 0 <= begin < end else None


def _intended(text: str) -> str | None:
    """Return the answer after the thought that a text begins with, which may hold one too; else the first answer."""
    end = text.find(_END_OF_THOUGHT) if text.startswith("<think>") else -1
    answer = _first(text, end) if end >= 0 else None
    return _first(text) if answer is None else answer


def _unclosed(text: str) -> str | None:
    _, opened, answer = text.partition(_OPEN)
    return answer if opened else None


def _plain(written: str) -> tuple[ParseStatus, Action | None]:
    found = _PLAIN.fullmatch(written)
    if found is None:
        return ParseStatus.BAD_ACTION, None
    yaw, pitch = (number.replace("_", "") for number in found.groups()[1:] if number is not None)
    return _action(found["name"], yaw, pitch)


def _loose(written: str) -> tuple[ParseStatus, Action | None]:
    found = _LOOSE.search(written.replace("\N{MINUS SIGN}", "-"))
    return (ParseStatus.BAD_ACTION, None) if found is None else _action(found["name"].lower(), found[2], found[3])


def _action(name: str, yaw: str, pitch: str) -> tuple[ParseStatus, Action | None]:
    degrees = [float(yaw), float(pitch)]  # Of however many digits: too large a number becomes infinite.
    if not all(abs(angle) <= LIMIT_DEG for angle in degrees):
        return ParseStatus.OUT_OF_RANGE, None
    # Halves are rounded away from zero, as people do.
    whole = [math.copysign(math.floor(abs(angle) + 0.5), angle) + 0.0 for angle in degrees]
    return ParseStatus.OK, _KINDS[name](*whole)
