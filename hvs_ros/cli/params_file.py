"""Reads a ROS parameter file as the nodes will, so that a verb knows, and can say, what they are going to do.

An option that the user did not give is left to the file; what neither says has the default. ROS itself only answers
after a node has started, which is too late to check a policy or to begin a results file with the settings of a run.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hvs_ros.bringup import HEAD, HEAD_NAMESPACE, POLICY, ROBOT_HEAD, TWIN, TWIN_NAMESPACE
from hvs_ros.cli.error import BAD_INPUT, VerbError
from hvs_ros.share import ShareError, share_file, user_path

SETTINGS_PREFIX = "policy."
"""Of the search policy's parameters: what follows is the name of a setting."""


class NodeValues:
    """What a file says for one node.

    Args:
        origin: the file, for messages.
        node: its executable, for messages.
        values: by the parameter's full name, e.g. ``policy.seed``.
    """

    def __init__(self, origin: str, node: str, values: Mapping[str, Any]) -> None:
        self.values = dict(values)
        self._origin = origin
        self._node = node

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def text(self, name: str, choices: tuple[str, ...] = ()) -> str | None:
        """Return a text, one of the choices if there are any; None: the file does not say, or it is empty.

        Raises:
            VerbError: it is something else.
        """
        expected = f"one of {', '.join(choices)}" if choices else "a text"
        value = self._get(name, expected, lambda given: isinstance(given, str) and (not choices or given in choices))
        return value or None

    def number(self, name: str, low: float, high: float, *, whole: bool = False) -> Any:
        """Return a number in a range, both ends included; None: the file does not say.

        Raises:
            VerbError: it is something else.
        """
        kinds = (int,) if whole else (int, float)
        expected = f"{'a whole' if whole else 'a'} number from {low:g} to {high:g}"
        return self._get(name, expected, lambda given: type(given) in kinds and low <= given <= high)

    def settings(self) -> dict[str, Any]:
        """Return the settings of a policy."""
        return {
            name.removeprefix(SETTINGS_PREFIX): value
            for name, value in self.values.items()
            if name.startswith(SETTINGS_PREFIX)
        }

    def _get(self, name: str, expected: str, fits: Callable[[Any], bool]) -> Any:
        value = self.values.get(name)
        if value is not None and not fits(value):
            raise VerbError(
                f"--params-file {self._origin}: {self._node}'s {name} is {value!r}; {expected} is expected", BAD_INPUT
            )
        return value


class ParamsFile:
    """A parameter file; without one, it says nothing.

    Args:
        path: None: there is none.

    Attributes:
        content: the file as it stands.

    Raises:
        VerbError: it cannot be read, or is none.
    """

    def __init__(self, path: Path | None) -> None:
        self._origin = str(path)
        self.content: dict[str, Any] = {} if path is None else _read(path)

    def head(self, namespace: str) -> NodeValues:
        """Return what it says for the head of a graph."""
        return self._node(HEAD, f"{namespace}/{HEAD_NAMESPACE}/{HEAD}")

    def robot_head(self, namespace: str) -> NodeValues:
        """Return what it says for the head of a robot."""
        return self._node(ROBOT_HEAD, f"{namespace}/{HEAD_NAMESPACE}/{ROBOT_HEAD}")

    def twin(self, namespace: str) -> NodeValues:
        """Return what it says for a robot's twin."""
        return self._node(TWIN, f"{namespace}/{TWIN_NAMESPACE}/{TWIN}")

    def policy(self, namespace: str) -> NodeValues:
        """Return what it says for the search policy of a graph."""
        return self._node(POLICY, f"{namespace}/{POLICY}")

    def _node(self, executable: str, name: str) -> NodeValues:
        full = "/" + name.strip("/")
        # A later section goes before an earlier one, and the node reads its own file in config/ before this one: a
        # section that both have counts from there.
        sections: dict[str, dict[str, Any]] = {}
        if self.content:
            sections = {pattern: {} for pattern, _ in _sections(_read(_own_file(executable)))}
        for pattern, parameters in _sections(self.content):
            sections.setdefault(pattern, {}).update(_flat(parameters))
        values: dict[str, Any] = {}
        for pattern, found in sections.items():
            if _matches(pattern, full):
                values.update(found)
        return NodeValues(self._origin, executable, values)


def chosen_scenes(args: argparse.Namespace, head: NodeValues) -> Path | None:
    """Return the folder of scenes by command line or file; None: neither says."""
    given = head.text("scenes")
    return args.scenes or (user_path(given) if given else None)


def _own_file(executable: str) -> Path:
    try:
        return share_file("config", f"{executable}.yaml")
    except ShareError as error:
        raise VerbError(str(error)) from error


def _read(path: Path) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise VerbError(f"--params-file {path}: cannot be read: {error.strerror or error}", BAD_INPUT) from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise VerbError(f"--params-file {path}: not YAML: {error}", BAD_INPUT) from error
    if not isinstance(content, dict):
        raise VerbError(f"--params-file {path}: node names with ros__parameters are expected", BAD_INPUT)
    return content


def _sections(content: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """Yield (pattern of node names, parameters), in the order of the file, in which later ones win."""
    for name, inner in content.items():
        if not isinstance(inner, Mapping):
            continue
        if name == "ros__parameters":
            yield prefix, inner
        else:
            yield from _sections(inner, f"{prefix}/{str(name).strip('/')}")


def _matches(pattern: str, full_name: str) -> bool:
    """``/*`` stands for one name and ``/**`` for any number of them, none included."""
    expression = re.escape(pattern).replace(r"/\*", r"(/\w+)").replace(r"(/\w+)\*", r"(/\w+)*")
    return re.fullmatch(expression, full_name) is not None


def _flat(parameters: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
