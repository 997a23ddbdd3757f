"""The description of the graph, and processes that are started, watched and ended; stand-ins take the nodes' place."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from hvs_ros.bringup import Bringup, NodeSpec, local_environment, parameter_text, real, sim
from hvs_ros.share import sample_scenes

Lines = list[tuple[str, str]]
Launcher = Callable[[], tuple[subprocess.Popen[str], list[int]]]

WAIT_S = 20.0
ENDS_S = 10.0
"""Everything is to be gone so soon."""

OBEDIENT = """
    import signal, sys, time
    def leave(*_):
        print("closing", flush=True)
        sys.exit(0)
    signal.signal(signal.SIGINT, leave)
    signal.signal(signal.SIGTERM, leave)
    print("up", sys.argv[1:], flush=True)
    while True:
        time.sleep(0.1)
"""
STUBBORN = """
    import signal, time
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("up", flush=True)
    while True:
        time.sleep(0.1)
"""
DYING = """
    import sys
    print("up", flush=True)
    print("the camera is on fire", file=sys.stderr, flush=True)
    sys.exit(3)
"""
IMPORTING = """
    import time
    print("up", flush=True)
    time.sleep(60)
"""


class Stand(NodeSpec):
    @property
    def module(self) -> str:
        return f"stand_in_{self.executable}"


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Stand]:
    """``stand(name, program)`` returns the description of a node that runs this program."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))

    def make(name: str, program: str) -> Stand:
        (tmp_path / f"stand_in_{name}.py").write_text(textwrap.dedent(program))
        return Stand(name)

    return make


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


# The description


def test_sim_is_a_head_and_a_policy() -> None:
    head, policy = sim(scenes="/scenes")
    assert (head.full_name, policy.full_name) == ("/head/panorama_head", "/search_policy")
    assert head.parameters == {"scenes": "/scenes", "scene": ""}
    assert [path.name for path in head.parameter_files] == ["panorama_head.yaml"]
    assert dict(policy.parameters) == {}


def test_recorder_and_benchmark_join_on_request(tmp_path: Path) -> None:
    specs = sim(scenes="/s", policy="random", record=tmp_path, benchmark=True, results=tmp_path / "r", namespace="/a/")
    assert [spec.full_name for spec in specs] == [
        "/a/head/panorama_head",
        "/a/episode_recorder",
        "/a/search_policy",
        "/a/benchmark",
    ]
    assert specs[1].parameters == {"directory": str(tmp_path)}
    assert specs[3].parameters == {"scenes": "/s", "record": True, "results": str(tmp_path / "r")}


def test_frames_of_graphs_side_by_side_do_not_mix() -> None:
    below = {spec.remappings for spec in sim(scenes="/s", namespace="/a/")}
    assert below == {(("/tf", "/a/tf"), ("/tf_static", "/a/tf_static"))}
    assert {spec.remappings for spec in sim(scenes="/s")} == {()}
    # A robot's own drivers tell of its frames where they are.
    head, _ = real(robot="icub", namespace="a", driver_namespace="")
    assert head.remappings == ()
    head, _ = real(robot="icub", namespace="a", driver_namespace="b")
    assert dict(head.remappings)["/tf"] == "/b/tf"


def test_parameters_of_the_caller_come_last(tmp_path: Path) -> None:
    head, policy = sim(scenes="/s", parameter_files=[tmp_path / "p"], parameters={"panorama_head": {"scene": "hall"}})
    assert head.parameters["scene"] == "hall"
    assert head.parameter_files[-1] == policy.parameter_files[-1] == tmp_path / "p"
    files = head.write_parameters(tmp_path)
    assert files[:-1] == head.parameter_files
    assert "scene: 'hall'" in files[-1].read_text()
    line = head.ros_arguments(files, "warn")
    assert [line[at + 1] for at, word in enumerate(line) if word == "--params-file"] == [str(path) for path in files]
    assert line[-2:] == ["--log-level", "head.panorama_head:=warn"]


NODE_THAT_TELLS = """
import sys, rclpy
from rclpy.node import Node
rclpy.init(args=sys.argv)
node = Node("any")
node.declare_parameters("", [("scene", ""), ("policy.base_url", ""), ("hfov", 0.0)])
print([node.get_parameter(name).value for name in ("scene", "policy.base_url", "hfov")])
"""


@pytest.mark.parametrize("namespace", ["", "a/b"])
@pytest.mark.parametrize("section", ["/**", "stand", "/**/stand", "/{}stand"])
def test_parameters_of_the_caller_go_before_every_section_of_a_file(
    tmp_path: Path, namespace: str, section: str
) -> None:
    pytest.importorskip("rclpy")
    section = section.format(f"{namespace}/" if namespace else "")
    for name in ("base", "user"):
        head = section if name == "user" else "/**"
        (tmp_path / f"{name}.yaml").write_text(f"{head}:\n  ros__parameters:\n    scene: {name}\n    hfov: 1.5\n")
    spec = NodeSpec(
        executable="stand",
        namespace=namespace,
        parameter_files=(tmp_path / "base.yaml", tmp_path / "user.yaml"),
        parameters={"scene": "mine", "policy.base_url": "http://h:8000/v1"},
    )
    line = spec.ros_arguments(spec.write_parameters(tmp_path))
    told = subprocess.run(
        [sys.executable, "-c", NODE_THAT_TELLS, *line], capture_output=True, text=True, check=True, timeout=60
    )
    assert ast.literal_eval(told.stdout.splitlines()[-1]) == ["mine", "http://h:8000/v1", 1.5]


def test_parameters_for_nobody_are_refused() -> None:
    with pytest.raises(ValueError, match="episode_recorder"):
        sim(scenes="/s", parameters={"episode_recorder": {"views": "raw"}})


def test_a_robot_is_a_head_that_does_not_move_unasked() -> None:
    head, policy = real(robot="icub")
    assert (head.full_name, policy.full_name) == ("/head/robot_head", "/search_policy")
    assert head.parameters == {"robot": "icub", "driver_namespace": ""}
    assert [path.name for path in head.parameter_files] == ["robot_head.yaml"]
    head, _ = real(robot="icub", confirm=True, use_torso=True, turn_base=True)
    assert {name for name, value in head.parameters.items() if value is True} == {"confirm", "use_torso", "turn_base"}


def test_a_twin_takes_the_robot_s_place(tmp_path: Path) -> None:
    specs = real(robot="icub", twin=True, scene="shop", record=tmp_path, namespace="/a/")
    assert [spec.full_name for spec in specs] == [
        "/a/twin/neck_twin",
        "/a/head/robot_head",
        "/a/episode_recorder",
        "/a/search_policy",
    ]
    twin, head = specs[:2]
    # Both take the robot's topics into the same namespace, so that two twins run side by side.
    assert twin.parameters == {
        "robot": "icub",
        "driver_namespace": "a",
        "scenes": str(sample_scenes()),
        "scene": "shop",
    }
    assert head.parameters == {"robot": "icub", "driver_namespace": "a", "kind": "twin", "confirm": True}
    with pytest.raises(ValueError, match="surround a twin"):
        real(robot="icub", scene="shop")


def test_drivers_may_be_elsewhere_and_a_robot_may_be_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    head, _ = real(robot="heads/mine.yaml", namespace="a", driver_namespace="/b")
    assert head.parameters == {"robot": str(tmp_path / "heads" / "mine.yaml"), "driver_namespace": "b"}


@pytest.mark.parametrize(
    "value", [True, 3, 2.0, 1e-05, 1e20, -0.5, float("inf"), "", "1", "it's", "a: b", "true", [1.0, 2.5], ["a", "1"]]
)
def test_parameters_survive_the_command_line(value: bool | int | float | str | list[float] | list[str]) -> None:
    back = yaml.safe_load(parameter_text(value))
    assert back == value
    assert type(back) is type(value)


def test_the_user_s_environment_wins() -> None:
    plain = local_environment({})
    assert plain["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert Path(plain["FASTRTPS_DEFAULT_PROFILES_FILE"]).is_file()
    assert "ROS_AUTOMATIC_DISCOVERY_RANGE" not in local_environment({"ROS_LOCALHOST_ONLY": "0"})
    assert "ROS_AUTOMATIC_DISCOVERY_RANGE" not in local_environment({"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"})
    for name in ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"):
        assert list(local_environment({name: "mine.xml"})) == ["ROS_AUTOMATIC_DISCOVERY_RANGE"]


# The processes


def test_nodes_get_their_arguments_and_end_in_reverse(stand: Callable[[str, str], Stand], tmp_path: Path) -> None:
    lines: Lines = []
    specs = [stand("first", OBEDIENT), stand("second", OBEDIENT)]
    with Bringup(specs, log_directory=tmp_path / "logs", on_line=lambda *line: lines.append(line)) as nodes:
        wait_until(lambda: len(lines) == 2)
        assert nodes.trouble() == ""
    assert "__node:=first" in dict(lines[:2])["first"]
    assert lines[2:] == [("second", "closing"), ("first", "closing")]
    assert [child.exit_code for child in nodes.children] == [0, 0]
    assert (tmp_path / "logs" / "first.log").read_text().endswith("closing\n")


def test_a_dead_node_is_named_with_its_last_words(stand: Callable[[str, str], Stand]) -> None:
    with Bringup([stand("good", OBEDIENT), stand("bad", DYING)], on_line=lambda *_: None) as nodes:
        ended = nodes.wait(WAIT_S)
        assert ended is not None and ended.name == "bad"
        assert nodes.trouble() == "bad ended with exit code 3; it said: up | the camera is on fire"


def test_a_node_that_is_killed_says_so(stand: Callable[[str, str], Stand]) -> None:
    with Bringup([stand("good", OBEDIENT)], on_line=lambda *_: None) as nodes:
        assert nodes.wait(0.0) is None
        nodes.children[0].send(signal.SIGKILL)
        wait_until(nodes.trouble)
        assert "good ended by SIGKILL" in nodes.trouble()


def test_a_stubborn_node_is_ended_all_the_same(stand: Callable[[str, str], Stand]) -> None:
    lines: Lines = []
    specs = [stand("obedient", OBEDIENT), stand("stubborn", STUBBORN)]
    with Bringup(specs, on_line=lambda *line: lines.append(line)) as nodes:
        wait_until(lambda: len(lines) == 2)
        began = time.monotonic()
    assert time.monotonic() - began < ENDS_S
    assert not any(child.running for child in nodes.children)
    assert ("stubborn", "does not end; SIGKILL is sent") in lines
    assert nodes.children[0].exit_code == 0


def test_a_node_interrupted_while_it_starts_says_nothing(stand: Callable[[str, str], Stand]) -> None:
    lines: Lines = []
    with Bringup([stand("young", IMPORTING)], on_line=lambda *line: lines.append(line)):
        wait_until(lambda: lines)
    assert lines == [("young", "up")]


@pytest.fixture
def launcher(stand: Callable[[str, str], Stand], tmp_path: Path) -> Launcher:
    """A process of its own that brings two nodes up; it returns the process and the nodes' pids."""
    stand("first", OBEDIENT)
    stand("second", OBEDIENT)
    program = tmp_path / "launcher.py"
    program.write_text(
        textwrap.dedent("""
        import sys, time
        from hvs_ros.bringup import Bringup, NodeSpec
        class Stand(NodeSpec):
            module = property(lambda self: f"stand_in_{self.executable}")
        up = []
        with Bringup([Stand("first"), Stand("second")], on_line=lambda *line: up.append(line)) as nodes:
            while len(up) < 2:
                time.sleep(0.02)
            try:
                print(*(child.pid for child in nodes.children), flush=True)
                time.sleep(60)
            except KeyboardInterrupt:
                pass
        """)
    )

    def start() -> tuple[subprocess.Popen[str], list[int]]:
        process = subprocess.Popen(
            [sys.executable, str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        return process, [int(word) for word in process.stdout.readline().split()]

    return start


@pytest.mark.parametrize(
    ("send", "code"),
    [
        (lambda pid: os.kill(pid, signal.SIGINT), 0),
        (lambda pid: os.killpg(pid, signal.SIGINT), 0),
        (lambda pid: os.kill(pid, signal.SIGTERM), 128 + signal.SIGTERM),
        (lambda pid: os.kill(pid, signal.SIGKILL), -signal.SIGKILL),
    ],
    ids=["SIGINT", "SIGINT to the group", "SIGTERM", "SIGKILL"],
)
def test_no_node_outlives_its_launcher(
    launcher: Launcher, send: Callable[[int], None], code: int
) -> None:
    process, pids = launcher()
    assert len(pids) == 2
    send(process.pid)
    _, errors = process.communicate(timeout=ENDS_S)
    assert process.returncode == code
    assert "Traceback" not in errors
    wait_until(lambda: not any(alive(pid) for pid in pids))
