"""``hvs real`` and ``hvs check-signs`` with all nodes: on a twin, and with a twin in the place of a robot's drivers."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hvs_command import Command, write_scene
from ros_domain import claim_domain

from hvs_ros.bringup import Bringup, real
from hvs_ros.share import share_file

for package in ("rclpy", "hvs_interfaces", "pinocchio", "mujoco"):
    pytest.importorskip(package)
pytest.importorskip("icub_models")

ITEMS = [{"task": "Find the red box.", "yaw": [15, 25], "pitch": [-10, 10], "initial yaw": [340]}]
SMALL = """
/**/robot_head: {ros__parameters: {width: 640, height: 360}}
/**/neck_twin: {ros__parameters: {image_rate: 15.0}}
"""
"""For machines without much of a processor."""

Hvs = Callable[..., Command]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("real")
    write_scene(path / "scenes" / "hall", ITEMS)
    (path / "small.yaml").write_text(SMALL)
    return path


@pytest.fixture
def hvs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hvs]:
    """Start a command line in a ROS domain."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    commands: list[Command] = []

    def begin(domain: int, *arguments: object) -> Command:
        line = [*map(str, arguments), "--params-file", str(folder / "small.yaml")]
        commands.append(Command(line, domain, folder / f"hvs_{len(commands)}.log", Path(__file__).parent))
        return commands[-1]

    yield begin
    for command in commands:
        command.kill()


@pytest.fixture(scope="module")
def drivers(folder: Path) -> Iterator[int]:
    """A robot's drivers, which are a twin's; the ROS domain that they are in."""
    twin, *_ = real(robot="icub", twin=True, scenes=folder / "scenes", parameter_files=[folder / "small.yaml"])
    said: list[str] = []
    with (
        claim_domain() as domain,
        Bringup([twin], environment={"ROS_DOMAIN_ID": str(domain)}, on_line=lambda _, line: said.append(line)),
    ):
        yield domain
    print(*said, sep="\n")


def test_a_whole_search_on_a_twin_and_its_end(hvs: Hvs, folder: Path, domain: int) -> None:
    bags = folder / "bags"
    run = hvs(
        domain,
        *("real", "--robot", "icub", "--twin", "--scenes", folder / "scenes", "--namespace", "a", "--record", bags),
        *("--policy", "random", "--policy-setting", "views=2", "--stay"),
    )
    run.wait_for("hvs search --namespace a")
    nodes = run.children()
    names = ("neck_twin", "robot_head", "episode_recorder", "search_policy")
    assert set(nodes) == {f"hvs_ros.nodes.{name}" for name in names}
    run.send(signal.SIGINT)
    assert run.wait(15) == 0, run.output
    assert not [pid for pid in nodes.values() if (Path("/proc") / str(pid)).exists()]
    assert "icub may look from 5" in run.output and "640x480, 69° along its width" in run.output
    assert "hall/0/340: Find the red box." in run.output
    assert "turn 1 at (340." in run.output or "turn 1 at (339." in run.output
    said = [line for line in run.output.split("hvs real: ready")[0].splitlines() if not line.startswith("[")]
    verdict, bag = said[-2:]
    assert verdict.startswith(("FOUND", "missed")) and bag.endswith(": complete")
    assert "Traceback" not in run.output
    assert len(list(bags.glob("*/metadata.yaml"))) == 1


def test_what_a_robot_lacks_is_named_until_the_limit(hvs: Hvs, domain: int) -> None:
    run = hvs(domain, "real", "--robot", "icub", "--policy", "random")
    for kind, name in (
        ("joint states on", "/joint_states"),
        ("nobody subscribes to", "/neck_controller/joint_trajectory"),
        ("pictures on", "/icub/camera/image_raw"),
    ):
        run.wait_for(f"{kind} {name}")
    run.send(signal.SIGINT)
    assert run.wait(15) == 130
    assert "nothing moves without --confirm" in run.output and "Traceback" not in run.output
    run = hvs(domain, "real", "--robot", "icub", "--policy", "random", "--wait", 1)
    assert run.wait() == 1
    assert "gave up after 1 s: " in run.output.splitlines()[-1]


def test_without_confirmation_a_robot_is_shown_but_not_moved(hvs: Hvs, drivers: int) -> None:
    run = hvs(drivers, "real", "--robot", "icub", "--policy", "random", "--instruction", "find the red box")
    assert run.wait() == 1, run.output
    assert "slowly, 0.2 of its speed, until `hvs check-signs --robot icub`" in run.output
    assert "icub may look from" in run.output and "turn 1" not in run.output
    assert "--confirm is needed" in run.output.splitlines()[-1]


def test_a_wrong_sign_is_seen_by_the_camera(hvs: Hvs, drivers: int, folder: Path) -> None:
    right = share_file("config", "robots", "icub.yaml").read_text()
    wrong = folder / "wrong.yaml"
    wrong.write_text(right.replace("{name: neck_yaw,", "{name: neck_yaw, sign: -1,"))
    assert wrong.read_text() != right
    run = hvs(drivers, "check-signs", "--robot", wrong, "--confirm")
    assert run.wait() == 1, run.output
    assert run.output.count("THE CAMERA SAW THE OPPOSITE") == 2
    assert run.output.count("the camera saw the same") == 2
    assert "left and right: look at `sign:` of neck_yaw" in run.output
    assert not (folder / "state").exists()
