"""Whole searches on the twins of three robots: what is submitted is what the same policy submits in the panorama."""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

from diagnostic_msgs.msg import DiagnosticArray
from discs import DISCS, LEFT, SIDEWAYS, find_disc, write_discs
from head_under_test import HeadClient, Result
from lifecycle import Lifecycle
from node_launcher import Launcher
from ros_domain import claim_domain
from ros_graph import Graph

from hvs_ros.benchmark.record import SearchRecord
from hvs_ros.nodes.images import from_image
from hvs_ros.nodes.search_client import SearchClient
from hvs_ros.search.episode import Outcome
from hvs_ros.search.view import MoveOutcome

POLICY = "discs:FindsDisc"
PACKAGES = {"icub": "icub_models", "stretch": "stretch_urdf", "vega": "dexmate_urdf"}
VIEW = {"width": 320, "height": 180, "pose_rate": 20.0}
# A machine that is busy with other things is no robot that fails.
HEAD = VIEW | {"joint_state_timeout": 5.0, "response_timeout": 5.0, "arrival_timeout": 5.0, "stop_timeout": 5.0}
# A hall: what the necks and torsos shift the camera by must not be mistaken for an error of direction.
TWIN = {"width": 320, "height": 240, "image_rate": 10.0, "joint_rate": 50.0, "scene_radius": 30.0}
DEFAULTS: dict[str, object] = {"view": "policy", "use_torso": False, "turn_base": False}
LIMIT_DEG = 2.0


class Searcher:
    """A head and the policy's node in a namespace, and a client of them."""

    def __init__(self, start: Launcher, graph: Graph, name: str) -> None:
        start("hvs_ros.nodes.search_policy", namespace=name, policy=POLICY, draw_cross=False)
        self.graph, self.name = graph, name
        self.client = SearchClient(graph.node, action=f"{name}/search")

    def find(self, colour: str, more: str = "", max_turns: int = 12) -> SearchRecord:
        """Search for a disc."""
        instruction = f"find the {colour} disc; {more}"
        return self.client.search(instruction, max_turns=max_turns, server_limit_s=30.0, limit_s=60.0)


class RobotSearcher(Searcher):
    """A robot's twin, its head and the policy's node."""

    def __init__(self, start: Launcher, graph: Graph, name: str, scenes: Path) -> None:
        given = {"robot": name, "driver_namespace": name}
        self._given = dict(DEFAULTS)
        self._told: list[DiagnosticArray] = graph.collect(DiagnosticArray, "/diagnostics", 100)
        start("hvs_ros.nodes.neck_twin", namespace=f"{name}/twin", scenes=str(scenes), **given, **TWIN)
        start("hvs_ros.nodes.robot_head", namespace=f"{name}/head", kind="twin", confirm=True, **given, **HEAD)
        super().__init__(start, graph, name)
        self.head = HeadClient(graph, f"{name}/head").wait()
        self._lifecycle = Lifecycle(graph, f"{name}/head/robot_head")
        self._lifecycle.wait_for_status("ready")

    def configure(self, **values: object) -> None:
        """Let the head be one with these parameters, and the defaults otherwise."""
        wanted = DEFAULTS | values
        changed = {name: value for name, value in wanted.items() if value != self._given[name]}
        if not changed:
            return
        self._lifecycle.bring("unconfigured")
        for name, value in changed.items():
            assert not (problem := self._lifecycle.set(name, value)), problem
        self._given = wanted
        self._lifecycle.bring("active")
        self._lifecycle.wait_for_status("ready")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Graph, Path]]:
    """A graph in a domain of its own, and the scenes."""
    folder = tmp_path_factory.mktemp("discs")
    write_discs(folder / "scenes" / "discs" / "panorama.png")
    with pytest.MonkeyPatch.context() as patch, claim_domain() as domain, Graph(domain) as graph:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        yield graph, folder


@contextmanager
def launcher(stage: tuple[Graph, Path], name: str) -> Iterator[Launcher]:
    graph, folder = stage
    (folder / name).mkdir()
    domain = graph.context.get_domain_id()
    with Launcher(domain, folder / name) as start:
        yield start


@pytest.fixture(scope="module")
def answers(stage: tuple[Graph, Path]) -> dict[str, SearchRecord]:
    """What the policy submits in the panorama itself."""
    with launcher(stage, "panorama") as start:
        scenes = str(stage[1] / "scenes")
        start("hvs_ros.nodes.panorama_head", namespace="panorama/head", scenes=scenes, **VIEW)
        searcher = Searcher(start, stage[0], "panorama")
        found = {colour: searcher.find(colour) for colour in DISCS}
        searcher.client.close()
    for colour, record in found.items():
        assert record.submitted is not None, record.message
        assert record.submitted.angle_to_deg(DISCS[colour].direction) < 0.3
    return found


@pytest.fixture(scope="module", params=PACKAGES)
def robot(
    request: pytest.FixtureRequest, stage: tuple[Graph, Path], answers: dict[str, SearchRecord]
) -> Iterator[RobotSearcher]:
    """One robot after the other; each search begins where the last one has ended."""
    if importlib.util.find_spec(PACKAGES[request.param]) is None:
        pytest.skip(f"the package {PACKAGES[request.param]} is not installed")
    with launcher(stage, request.param) as start:
        searcher = RobotSearcher(start, stage[0], request.param, stage[1] / "scenes")
        yield searcher
        searcher.client.close()


def agrees(record: SearchRecord, answer: SearchRecord, *, looks: bool = True) -> None:
    """See that it submits what the panorama head's search did, and looks there too."""
    assert record.outcome is Outcome.SUBMITTED, record.message
    assert record.submitted is not None and answer.submitted is not None and record.looking is not None
    assert record.submitted.angle_to_deg(answer.submitted) < LIMIT_DEG
    if looks:
        assert record.looking.angle_to_deg(answer.submitted) < LIMIT_DEG


def moves(record: SearchRecord) -> set[MoveOutcome | None]:
    return {turn.move for turn in record.turns}


@pytest.mark.parametrize(("colour", "more"), [("red", ""), ("blue", LEFT)])
def test_the_same_policy_submits_the_same_direction(
    robot: RobotSearcher, answers: dict[str, SearchRecord], colour: str, more: str
) -> None:
    robot.configure()
    agrees(robot.find(colour, more), answers[colour])


def test_where_the_neck_cannot_look_the_search_ends_all_the_same(
    robot: RobotSearcher, answers: dict[str, SearchRecord]
) -> None:
    robot.configure()
    if robot.name == "icub":  # it looks 50 degrees to either side
        agrees(record := robot.find("yellow"), answers["yellow"], looks=False)
        assert record.looking is not None and record.looking.yaw_deg == pytest.approx(50.0, abs=2.0)
        record = robot.find("magenta", LEFT, max_turns=5)
        assert record.outcome is Outcome.TURNS_EXHAUSTED and len(record.turns) == 5
    elif robot.name == "stretch":  # which looks 86 degrees to the left and 223 to the right
        agrees(record := robot.find("magenta"), answers["magenta"], looks=False)
    else:
        agrees(robot.find("magenta", LEFT), answers["magenta"])
        return
    assert MoveOutcome.CLAMPED in moves(record)
    assert moves(record) <= {MoveOutcome.CLAMPED, MoveOutcome.REACHED, None}


def test_the_picture_of_every_camera_is_upright(robot: RobotSearcher) -> None:
    """Stretch's camera is mounted on its side."""
    robot.configure()
    _, result = robot.head.move(-math.radians(DISCS["red"].direction.yaw_deg), 0.0)
    assert result.outcome == Result.REACHED, result.message
    picture = from_image(robot.head.view_since(result.view_stamp))
    above, below = find_disc(picture, "red"), find_disc(picture, "cyan")
    assert above is not None and below is not None
    focal = VIEW["width"] / 2 / math.tan(math.radians(50.0))
    for (column, row), sign in ((above, -1), (below, 1)):
        assert column == pytest.approx(0.0, abs=3.0)
        assert row == pytest.approx(sign * focal * math.tan(math.radians(12.0)), abs=3.0)


def test_a_policy_that_knows_the_camera_searches_in_its_native_pictures(
    robot: RobotSearcher, answers: dict[str, SearchRecord]
) -> None:
    robot.configure(view="native")
    record = robot.find("blue", f"{LEFT}; {SIDEWAYS if robot.name == 'stretch' else ''}")
    agrees(record, answers["blue"])
    capabilities = robot.head.capabilities
    assert capabilities.hfov == pytest.approx(1.2113, abs=0.001)
    assert (capabilities.width, capabilities.height) == (TWIN["width"], TWIN["height"])


def test_what_the_neck_is_short_of_the_torso_or_the_base_makes_up_for(
    robot: RobotSearcher, answers: dict[str, SearchRecord]
) -> None:
    more = {"icub": ("use_torso", "yellow"), "stretch": ("turn_base", "magenta")}
    if robot.name not in more:
        pytest.skip("its neck looks everywhere")
    switch, colour = more[robot.name]
    robot.configure(**{switch: True})
    record = robot.find(colour, LEFT if colour == "magenta" else "")
    agrees(record, answers[colour])
    assert moves(record) <= {MoveOutcome.REACHED, None}
