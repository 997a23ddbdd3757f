"""Which nodes make up a graph: a simulation, or the search on a robot's head or its physics twin.

Launch files make launch actions of these descriptions, ``hvs_ros.bringup`` starts the same nodes where there is no
launch. Nothing here imports ROS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hvs_ros.node_spec import NodeSpec, Value
from hvs_ros.share import sample_scenes, share_file, user_path

HEAD, POLICY, RECORDER, BENCHMARK = "panorama_head", "search_policy", "episode_recorder", "benchmark"
ROBOT_HEAD, TWIN = "robot_head", "neck_twin"
HEAD_NAMESPACE, TWIN_NAMESPACE = "head", "twin"

Parameters = Mapping[str, Mapping[str, Value]]
"""Parameters by executable, e.g. ``{"panorama_head": {"motion": "profile"}}``."""


def sim(
    *,
    scenes: str | Path,
    scene: str = "",
    policy: str = "",
    record: str | Path | None = None,
    benchmark: bool = False,
    results: str | Path | None = None,
    namespace: str = "",
    parameter_files: Sequence[str | Path] = (),
    parameters: Parameters | None = None,
) -> list[NodeSpec]:
    """Return the nodes of a simulation, in the order in which they are started.

    Args:
        scenes: folder of scenes or panoramas.
        scene: the one to start in; empty: the first.
        policy: who decides, see ``hvs policies``; empty: as the parameter files say, which is ``signs``.
        record: folder for a bag of each episode; None: no recorder.
        benchmark: a node runs every episode of the scenes, and ends.
        results: file that it appends each result to; None: it only prints them.
        namespace: put before every name, that of tf too, so that several simulations run side by side.
        parameter_files: ROS parameter files, read by every node after its own file in config/.
        parameters: more parameters by executable, over the files.

    Raises:
        ShareError: a node's file in config/ is missing.
        ValueError: parameters are given for a node that is not started.
    """
    graph = _Graph(namespace, parameter_files, parameters)
    graph.put_tf_below(graph.root)
    folder = _absolute(scenes)
    graph.add(HEAD, HEAD_NAMESPACE, scenes=folder, scene=scene)
    _add_searcher(graph, policy, record)
    if benchmark:
        kept = {} if results is None else {"results": _absolute(results)}
        graph.add(BENCHMARK, scenes=folder, record=record is not None, **kept)
    return graph.finish()


def real(
    *,
    robot: str | Path,
    twin: bool = False,
    scenes: str | Path | None = None,
    scene: str = "",
    policy: str = "",
    record: str | Path | None = None,
    confirm: bool = False,
    use_torso: bool = False,
    turn_base: bool = False,
    namespace: str = "",
    driver_namespace: str | None = None,
    parameter_files: Sequence[str | Path] = (),
    parameters: Parameters | None = None,
) -> list[NodeSpec]:
    """Return the nodes that search with a robot's head, or with its twin, in the order in which they are started.

    What is not said here is left to the parameter files: a switch that is off is not a parameter.

    Args:
        robot: name of a file in config/robots/, or the path of one.
        twin: a physics twin takes the robot's place; nothing real moves.
        scenes: folder of scenes or panoramas that surround the twin; None: the samples.
        scene: the one that it starts in; empty: the first.
        policy: who decides, see ``hvs policies``; empty: as the parameter files say, which is ``signs``.
        record: folder for a bag of each episode; None: no recorder.
        confirm: the head may move. Without it every move is refused; with a twin it is always given.
        use_torso: torso joints help where the neck is not enough.
        turn_base: the base turns where the rest is not enough.
        namespace: put before every name, so that several robots, or twins, run side by side.
        driver_namespace: put before the absolute topics of the robot's file, and before tf; None: like ``namespace``.
        parameter_files: ROS parameter files, read by every node after its own file in config/.
        parameters: more parameters by executable, over the files.

    Raises:
        ShareError: a node's file in config/ is missing.
        ValueError: parameters are given for a node that is not started, or scenes for a robot.
    """
    graph = _Graph(namespace, parameter_files, parameters)
    drivers = (graph.root if driver_namespace is None else driver_namespace).strip("/")
    graph.put_tf_below(drivers)
    which = robot_address(robot)
    head: dict[str, Value] = {"robot": which, "driver_namespace": drivers}
    if twin:
        folder = _absolute(sample_scenes() if scenes is None else scenes)
        graph.add(TWIN, TWIN_NAMESPACE, robot=which, driver_namespace=drivers, scenes=folder, scene=scene)
        head |= {"kind": "twin", "confirm": True}
    elif scenes is not None or scene:
        raise ValueError("scenes surround a twin; a robot sees what is there")
    switches = {"confirm": confirm, "use_torso": use_torso, "turn_base": turn_base}
    head |= {name: True for name, on in switches.items() if on}
    graph.add(ROBOT_HEAD, HEAD_NAMESPACE, **head)
    _add_searcher(graph, policy, record)
    return graph.finish()


def robot_address(robot: str | Path) -> str:
    """Return a robot as every node understands it, wherever it is started: a name as it is, a path absolute."""
    text = str(robot)
    is_path = isinstance(robot, Path) or "/" in text or text.startswith("~") or text.endswith((".yaml", ".yml"))
    return _absolute(robot) if is_path else text


class _Graph:
    """Nodes with what they have in common."""

    def __init__(self, namespace: str, parameter_files: Sequence[str | Path], parameters: Parameters | None) -> None:
        self.root = namespace.strip("/")
        self._files = tuple(Path(_absolute(path)) for path in parameter_files)
        self._given = {executable: dict(values) for executable, values in (parameters or {}).items()}
        self._specs: list[NodeSpec] = []
        self._remappings: tuple[tuple[str, str], ...] = ()

    def put_tf_below(self, namespace: str) -> None:
        """Have nodes that are added from now on talk of frames there: others have frames of the same names."""
        if namespace:
            self._remappings = tuple((name, f"/{namespace}{name}") for name in ("/tf", "/tf_static"))

    def add(self, executable: str, inner: str = "", **own: Value) -> None:
        """Add a node in an inner namespace, with parameters that the caller's go over."""
        self._specs.append(
            NodeSpec(
                executable=executable,
                namespace="/".join(part for part in (self.root, inner) if part),
                parameter_files=(share_file("config", f"{executable}.yaml"), *self._files),
                parameters={**own, **self._given.pop(executable, {})},
                remappings=self._remappings,
            )
        )

    def finish(self) -> list[NodeSpec]:
        """Return the nodes, unless parameters are left over."""
        if self._given:
            nodes = ", ".join(spec.name for spec in self._specs)
            raise ValueError(f"parameters for {', '.join(self._given)}, but the nodes are {nodes}")
        return self._specs


def _add_searcher(graph: _Graph, policy: str, record: str | Path | None) -> None:
    if record is not None:
        graph.add(RECORDER, directory=_absolute(record))
    graph.add(POLICY, **({"policy": policy} if policy else {}))


def _absolute(path: str | Path) -> str:
    return str(user_path(path).absolute())
