"""What is particular to the panorama head: its parameters, life without a scene, rehearsed limits, its end."""

from __future__ import annotations

import dataclasses
import math
import os
import signal
import time
from pathlib import Path
from typing import Any

import cv2
import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from head_under_test import ABORTED, SUCCEEDED, HeadClient, Result, off, write_panorama
from hvs_interfaces.msg import HeadCapabilities, HeadPose
from node_launcher import Launcher, NodeProcess
from rcl_interfaces.msg import Parameter, ParameterDescriptor, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters
from ros_graph import Graph, wait_until
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image
from std_msgs.msg import String

from hvs_ros.nodes.convert import time_message, time_ns
from hvs_ros.nodes.head_parameters import HeadParameters
from hvs_ros.nodes.qos import latched
from hvs_ros.share import share_file

VIEW = {"width": 160, "height": 90}
MODULE = "hvs_ros.nodes.panorama_head"


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    write_panorama(tmp_path / "scenes" / "first" / "panorama.png")
    return tmp_path / "scenes"


def start(start_node: Launcher, **parameters: object) -> NodeProcess:
    return start_node(MODULE, namespace="head", **VIEW, **parameters)


def statuses(messages: list[DiagnosticArray]) -> list[DiagnosticStatus]:
    return [status for message in messages for status in message.status]


def test_its_description_reaches_who_comes_late(start_node: Launcher, graph: Graph, scenes: Path) -> None:
    start(start_node, scenes=str(scenes), yaw_min=-1.0, yaw_max=0.5)
    HeadClient(graph).wait()
    descriptions = graph.collect(String, "/head/robot_description", latched())
    wait_until(lambda: descriptions, what="the description")
    assert 'name="head_yaw" type="revolute"' in descriptions[0].data
    assert 'link name="camera_optical_frame"' in descriptions[0].data


def test_without_a_scene_it_runs_says_so_and_refuses_moves(start_node: Launcher, graph: Graph, scenes: Path) -> None:
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    process = start(start_node)
    head = HeadClient(graph).wait()
    assert head.capabilities.scene == ""
    status, result = head.move(0.5)
    assert (status, result.outcome) == (ABORTED, Result.REFUSED)
    assert "no scene" in result.message
    assert "load_scene" in result.message
    assert "no scene" in process.output
    wait_until(
        lambda: [s for s in statuses(diagnostics) if s.level == DiagnosticStatus.WARN and "no scene" in s.message],
        what="the diagnostics",
    )
    response = head.load_scene(str(scenes / "first"), 0.25)
    assert response.success
    status, result = head.move(0.5, relative=True)
    assert (status, result.outcome) == (SUCCEEDED, Result.REACHED)
    assert result.pose.yaw == pytest.approx(0.75)
    wait_until(
        lambda: [s for s in statuses(diagnostics) if s.level == DiagnosticStatus.OK and "first" in s.message],
        what="the diagnostics",
    )


def test_a_first_scene_that_cannot_be_shown_is_named_and_the_node_stays(
    start_node: Launcher, graph: Graph, scenes: Path
) -> None:
    (scenes / "first" / "panorama.png").write_bytes(b"not a picture")
    process = start(start_node, scenes=str(scenes))
    head = HeadClient(graph).wait()
    _, result = head.move(0.5)
    assert result.outcome == Result.REFUSED
    assert "panorama.png" in result.message
    assert "panorama.png" in process.output
    write_panorama(scenes / "first" / "panorama.png")
    assert head.load_scene("first").success
    assert head.move(0.5)[1].outcome == Result.REACHED


def test_the_first_scene_and_direction_are_parameters(start_node: Launcher, graph: Graph, scenes: Path) -> None:
    write_panorama(scenes / "zoo" / "panorama.png", turned=1.0)
    start(start_node, scenes=str(scenes), scene="zoo", start_yaw=0.5, start_pitch=-0.2)
    head = HeadClient(graph).wait()
    assert head.capabilities.scene == "zoo"
    _, result = head.move(0.0, relative=True)
    assert (result.pose.yaw, result.pose.pitch) == pytest.approx((0.5, -0.2))
    assert off(head.looks_at(result)[0], 1.5) < 0.04


def test_it_begins_with_the_initial_view_that_the_picture_asks_for(
    start_node: Launcher, graph: Graph, scenes: Path
) -> None:
    path = scenes / "first" / "panorama.png"
    _, jpeg = cv2.imencode(".jpg", cv2.imread(str(path)), [cv2.IMWRITE_JPEG_QUALITY, 98])
    path.unlink()
    xmp = (
        b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        b'<rdf:Description xmlns:GPano="http://ns.google.com/photos/1.0/panorama/"'
        b' GPano:InitialViewHeadingDegrees="90"/></rdf:RDF></x:xmpmeta>'
    )
    segment = b"http://ns.adobe.com/xap/1.0/\0" + xmp
    data = jpeg.tobytes()
    path.with_suffix(".jpg").write_bytes(
        data[:2] + b"\xff\xe1" + (len(segment) + 2).to_bytes(2, "big") + segment + data[2:]
    )
    start(start_node, scenes=str(scenes), start_yaw=0.1)
    head = HeadClient(graph).wait()
    _, result = head.move(0.0, relative=True)
    assert result.pose.yaw == pytest.approx(-math.pi / 2 + 0.1)
    assert off(head.looks_at(result)[0], -math.pi / 2 + 0.1) < 0.06


def test_a_real_necks_range_is_rehearsed(start_node: Launcher, graph: Graph, scenes: Path) -> None:
    start(start_node, scenes=str(scenes), yaw_min=-1.2, yaw_max=1.0, pitch_min=-0.5, pitch_max=0.6)
    head = HeadClient(graph).wait()
    capabilities = head.capabilities
    assert not capabilities.yaw_continuous
    assert (capabilities.yaw_min, capabilities.yaw_max) == (-1.2, 1.0)
    assert (capabilities.pitch_min, capabilities.pitch_max) == (-0.5, 0.6)
    assert capabilities.out_of_range == HeadCapabilities.CLAMP
    status, result = head.move(2.0, -1.0)
    assert (status, result.outcome) == (SUCCEEDED, Result.CLAMPED)
    assert (result.pose.yaw, result.pose.pitch) == pytest.approx((1.0, -0.5))
    assert "yaw 2.000" in result.message
    assert off(head.looks_at(result)[0], 1.0) < 0.04
    # Never through the stop, even where that were shorter.
    assert head.move(-3.0)[1].pose.yaw == pytest.approx(-1.2)


def test_a_real_cameras_lens_is_rehearsed(start_node: Launcher, graph: Graph, scenes: Path, tmp_path: Path) -> None:
    calibration = {
        "image_width": 200,
        "image_height": 100,
        "camera_matrix": {"data": [80.0, 0.0, 95.0, 0.0, 82.0, 50.0, 0.0, 0.0, 1.0]},
        "distortion_model": "equidistant",
        "distortion_coefficients": {"data": [0.01, 0.0, 0.0, 0.0]},
    }
    (tmp_path / "ost.yaml").write_text(yaml.safe_dump(calibration))
    start(start_node, scenes=str(scenes), calibration=str(tmp_path / "ost.yaml"))
    head = HeadClient(graph).wait()
    _, result = head.move(0.5)
    view = head.view_since(result.view_stamp)
    info = wait_until(lambda: [i for i in head.infos if i.header == view.header], what="the calibration")[0]
    assert (view.width, view.height) == (info.width, info.height) == (200, 100)
    assert list(info.k) == calibration["camera_matrix"]["data"]
    assert (info.distortion_model, list(info.d)) == ("equidistant", [0.01, 0.0, 0.0, 0.0])
    assert (head.capabilities.width, head.capabilities.height) == (200, 100)
    assert 1.8 < head.capabilities.hfov < 2.6


def test_out_of_range_can_be_refused_instead(start_node: Launcher, graph: Graph, scenes: Path) -> None:
    start(start_node, scenes=str(scenes), yaw_min=-1.2, yaw_max=1.0, out_of_range="reject")
    head = HeadClient(graph).wait()
    assert head.capabilities.out_of_range == HeadCapabilities.REJECT
    head.move(0.5)
    status, result = head.move(2.0)
    assert (status, result.outcome) == (ABORTED, Result.REFUSED)
    assert "yaw 2.000 rad is outside -1.200 to 1.000" in result.message
    assert result.pose.yaw == pytest.approx(0.5)
    assert not head.load_scene("first", 2.0).success


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"width": 3}, "parameter 'width' is 3; 16 to 8192"),
        ({"hfov": 1}, "parameter 'hfov' is 1; a number with a decimal point is expected: write 1.0"),
        ({"hfov": math.nan}, "parameter 'hfov' is nan"),
        ({"motion": "fast"}, "parameter 'motion' is 'fast'; one of 'instant', 'profile'"),
        ({"width": "wide"}, "parameter 'width' is 'wide'; an integer"),
        ({"sampling": "hstar", "supersample": 2}, "parameter 'supersample' is 2"),
        ({"yaw_min": 1.0, "yaw_max": -1.0}, "yaw_min is 1"),
        ({"calibration": "/none.yaml"}, "parameter 'calibration': /none.yaml: cannot be read"),
    ],
)
def test_a_bad_parameter_ends_the_start_with_one_line(
    start_node: Launcher, parameters: dict[str, object], reason: str
) -> None:
    process = start_node(MODULE, **parameters)
    assert process.wait() == 1
    assert reason in process.output
    assert "Traceback" not in process.output
    assert len(process.output.strip().splitlines()) == 1


def test_a_misspelt_parameter_is_pointed_out(start_node: Launcher, graph: Graph, scenes: Path) -> None:
    process = start(start_node, scenes=str(scenes), publish_rat=1.0)
    HeadClient(graph).wait()
    wait_until(lambda: "'publish_rat' is not known" in process.output, what="the warning")
    assert "'publish_rate'" in process.output


def set_parameter(graph: Graph, name: str, value: ParameterValue) -> Any:
    request = SetParameters.Request(parameters=[Parameter(name=name, value=value)])
    return graph.call(SetParameters, "head/panorama_head/set_parameters", request).results[0]


def test_parameters_are_described_and_changes_are_refused_by_name(
    start_node: Launcher, graph: Graph, scenes: Path
) -> None:
    start(start_node, scenes=str(scenes))
    head = HeadClient(graph).wait()
    names = graph.call(ListParameters, "head/panorama_head/list_parameters", ListParameters.Request()).result.names
    # rclpy's own parameters are not described by us.
    ours = [name for name in names if name != "use_sim_time" and "start_type" not in name]
    described: list[ParameterDescriptor] = graph.call(
        DescribeParameters, "head/panorama_head/describe_parameters", DescribeParameters.Request(names=ours)
    ).descriptors
    assert len(described) >= 25
    assert all(descriptor.description for descriptor in described)

    number = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=100.0)
    whole = ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=5)
    for name, value in (("publish_rate", number), ("publish_rate", whole), ("width", whole)):
        result = set_parameter(graph, name, value)
        assert not result.successful
        assert name in result.reason
    assert head.move(0.1)[1].outcome == Result.REACHED


def test_publish_rate_shows_the_way_and_can_be_changed(start_node: Launcher, graph: Graph, scenes: Path) -> None:
    start(start_node, scenes=str(scenes), publish_rate=20.0)
    head = HeadClient(graph).wait()
    _, result = head.move(0.8, max_velocity=1.0)
    on_the_way = [view for view in head.views if time_ns(view.header.stamp) < time_ns(result.view_stamp)]
    assert len(on_the_way) > 5
    zero = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=0.0)
    assert set_parameter(graph, "publish_rate", zero).successful
    time.sleep(0.3)
    count = len(head.views)
    time.sleep(0.3)
    assert len(head.views) == count


def test_two_heads_side_by_side(start_node: Launcher, graph: Graph, scenes: Path) -> None:
    for namespace in ("left", "right/head"):
        start_node(MODULE, namespace=namespace, scenes=str(scenes), **VIEW)
    left, right = HeadClient(graph, "left").wait(), HeadClient(graph, "right/head").wait()
    left.move(0.5)
    _, result = right.move(-0.5)
    assert off(right.looks_at(result)[0], -0.5) < 0.04
    assert left.pose_at_rest().yaw == pytest.approx(0.5)
    assert right.pose_at_rest().yaw == pytest.approx(-0.5)
    assert left.capabilities.name != right.capabilities.name


def test_motion_and_stamps_follow_the_ros_clock(start_node: Launcher, graph: Graph, scenes: Path) -> None:
    start(start_node, scenes=str(scenes), motion="profile", use_sim_time=True)
    clock = graph.node.create_publisher(Clock, "/clock", 10)
    head = HeadClient(graph)
    now_ns = 5_000_000_000

    def tick(seconds: float) -> None:
        nonlocal now_ns
        now_ns += round(seconds * 1e9)
        clock.publish(Clock(clock=time_message(now_ns)))

    def ticked(seconds: float = 0.02) -> bool:
        tick(seconds)
        return bool(head.poses) and time_ns(head.poses[-1].header.stamp) >= 5_000_000_000

    wait_until(ticked, what="a pose on the simulated clock")
    goal = head.send(1.0)
    time.sleep(0.3)
    assert not goal.ended, "it moved although time stood still"

    def ended() -> bool:
        tick(0.02)
        return goal.ended

    began_ns = now_ns
    wait_until(ended, what="the move")
    _, result = goal.result()
    assert result.outcome == Result.REACHED
    assert began_ns < time_ns(result.view_stamp) <= now_ns
    assert time_ns(result.view_stamp) - began_ns >= 0.5e9


def test_best_effort_images_can_be_chosen(start_node: Launcher, graph: Graph, scenes: Path) -> None:
    start(start_node, scenes=str(scenes), image_reliability="best_effort")
    HeadClient(graph).wait()
    offered = graph.node.get_publishers_info_by_topic("/head/camera/image_raw")[0].qos_profile
    assert offered.reliability.name == "BEST_EFFORT"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_in_mid_move(
    start_node: Launcher, graph: Graph, scenes: Path, number: signal.Signals
) -> None:
    process = start(start_node, scenes=str(scenes))
    head = HeadClient(graph).wait()
    views: list[Image] = head.views
    wait_until(lambda: views, what="a view")
    goal = head.send(3.0, max_velocity=0.1)
    began = time.monotonic()
    assert process.stop(number) == 0
    assert time.monotonic() - began < 10.0
    assert "Traceback" not in process.output
    status, result = goal.result()
    assert (status, result.outcome) == (ABORTED, Result.STOPPED)
    assert "shuts down" in result.message


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_holds_when_its_commander_disappears(
    start_node: Launcher, graph: Graph, scenes: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=":")
    monkeypatch.setenv("FASTRTPS_DEFAULT_PROFILES_FILE", str(share_file("config", "fastdds_shm.xml")))
    process = start(start_node, scenes=str(scenes), motion="profile", max_velocity=0.1)
    poses: list[HeadPose] = graph.collect(HeadPose, "head/pose")
    commander = start_node("lone_commander", namespace="head")
    wait_until(lambda: poses and poses[-1].yaw_velocity > 0.0, what="motion")
    if number == signal.SIGKILL:
        commander.kill()
    else:
        commander.stop(number)
    wait_until(lambda: poses[-1].settled and poses[-1].yaw_velocity == 0.0, what="a head at rest")
    assert 0.0 < poses[-1].yaw < 2.0
    assert "whoever commanded it has gone" in process.output


def test_a_signal_during_the_start_ends_it_quietly(start_node: Launcher, tmp_path: Path) -> None:
    # A pipe that nobody writes to: the node hangs where it opens the scene.
    (tmp_path / "scene").mkdir()
    write_panorama(tmp_path / "scene" / "panorama.png")
    fifo = tmp_path / "scene" / "scene.yaml"
    os.mkfifo(fifo)
    process = start_node(MODULE, scenes=str(tmp_path / "scene"))
    wait_until(lambda: "tf2_msgs" in process.output or not process.running, what="the start")
    assert process.stop(signal.SIGINT) == 0
    assert "Traceback" not in process.output


def test_the_shipped_configuration_holds_the_defaults_and_fits_any_namespace(
    start_node: Launcher, graph: Graph
) -> None:
    path = share_file("config", "panorama_head.yaml")
    (parameters,) = (entry["ros__parameters"] for entry in yaml.safe_load(path.read_text()).values())
    assert parameters == {"autostart": True} | dataclasses.asdict(HeadParameters())

    changed = path.read_text().replace("pose_rate: 20.0", "pose_rate: 33.0")
    copy = start_node.folder / "changed.yaml"
    copy.write_text(changed)
    for namespace in ("", "a/b"):
        start_node(MODULE, namespace=namespace, arguments=["--params-file", str(copy)])
        request = GetParameters.Request(names=["pose_rate", "yaw_max"])
        values = graph.call(GetParameters, f"{namespace}/panorama_head/get_parameters", request).values
        assert values[0].double_value == 33.0
        assert values[1].double_value == math.pi


def test_a_view_that_cannot_be_made_is_a_fault_with_a_reason(
    start_node: Launcher, graph: Graph, scenes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=":")
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    broken = scenes / "first" / "broken"
    broken.touch()
    start_node("faulty_head", namespace="head", scenes=str(scenes), **VIEW)
    head = HeadClient(graph).wait()
    wait_until(lambda: graph.node.count_subscribers("/head/camera/image_raw"), what="the subscription")
    status, result = head.move(0.5)
    assert (status, result.outcome) == (ABORTED, Result.FAULT)
    assert "no room for the view" in result.message
    wait_until(
        lambda: [s for s in statuses(diagnostics) if s.level == DiagnosticStatus.ERROR and "no room" in s.message],
        what="the diagnostics",
    )
    response = head.load_scene("first")
    assert not response.success
    assert "no room for the view" in response.message
    broken.unlink()
    assert head.move(0.6)[1].outcome == Result.REACHED
