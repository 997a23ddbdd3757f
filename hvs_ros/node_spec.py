"""What a node of a graph is: its executable, its name, and the parameters that it is started with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Value = bool | int | float | str | Sequence[bool] | Sequence[int] | Sequence[float] | Sequence[str]
"""What a ROS parameter can be."""


@dataclass(frozen=True)
class NodeSpec:
    """A node of the graph.

    Attributes:
        executable: its name for ``ros2 run hvs_ros``; its module in hvs_ros.nodes has the same.
        namespace: without slashes at the ends; empty: the root.
        parameter_files: read in this order, each over the one before.
        parameters: over the files.
        remappings: (from, to).
    """

    executable: str
    namespace: str = ""
    parameter_files: tuple[Path, ...] = ()
    parameters: Mapping[str, Value] = field(default_factory=dict)
    remappings: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The node's name."""
        return self.executable

    @property
    def full_name(self) -> str:
        """Namespace and name, e.g. ``/head/panorama_head``."""
        return "/".join(("", self.namespace, self.name)) if self.namespace else f"/{self.name}"

    @property
    def logger(self) -> str:
        """The name of the node's logger."""
        return self.full_name.strip("/").replace("/", ".")

    @property
    def module(self) -> str:
        """What ``python -m`` runs."""
        return f"hvs_ros.nodes.{self.executable}"

    def write_parameters(self, folder: Path) -> tuple[Path, ...]:
        """Write ``parameters`` into a file in a folder; return every parameter file, in the order to give them in.

        Not ``-p name:=value``: that counts as a file's section for all nodes, and rcl lets a section that comes later
        go first even if the command line comes after both. A section with a name that no other file gives comes last.
        """
        if not self.parameters:
            return self.parameter_files
        lines = [f"/**/{self.name}/**:", "  ros__parameters:"]
        lines += [f"    {name}: {parameter_text(value)}" for name, value in self.parameters.items()]
        path = folder / f"{self.logger}.yaml"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return (*self.parameter_files, path)

    def ros_arguments(self, parameter_files: Sequence[Path], log_level: str = "") -> list[str]:
        """Return the command line that gives the node its name, parameters and remappings.

        Args:
            parameter_files: as ``write_parameters`` returns them.
            log_level: of the node's own logger; empty: ROS's default.
        """
        line = ["--ros-args", "-r", f"__node:={self.name}"]
        if self.namespace:
            line += ["-r", f"__ns:=/{self.namespace}"]
        for old, new in self.remappings:
            line += ["-r", f"{old}:={new}"]
        for path in parameter_files:
            line += ["--params-file", str(path)]
        if log_level:
            # Its own logger's: rclpy's inner ones would bury it.
            line += ["--log-level", f"{self.logger}:={log_level}"]
        return line


def parameter_text(value: Value) -> str:
    """Return a parameter's value as YAML that ROS reads as the same value and type."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # Quoted, or YAML would make a number of "1" and null of "".
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, (int, float)):
        return _number_text(value)
    return "[" + ", ".join(parameter_text(item) for item in value) + "]"


def _number_text(value: int | float) -> str:
    text = repr(value)
    if isinstance(value, float):
        special = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(text)
        if special:
            return special
        if "." not in text:
            # 1e-05 is a text to YAML 1.1; 1.0e-05 is a number.
            mantissa, _, exponent = text.partition("e")
            text = f"{mantissa}.0e{exponent}"
    return text
