"""What a parameter file says is what runs, unless the command line says otherwise; either way the run is named so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hvs_command import Command

from hvs_ros.bringup import HEAD, HEAD_NAMESPACE, POLICY
from hvs_ros.cli.main import build_parser
from hvs_ros.cli.params_file import ParamsFile
from hvs_ros.cli.sim_options import fill_in
from hvs_ros.share import share_file

Hvs = Callable[..., tuple[int, str, str]]

FILE = """
/**:
  ros__parameters: {policy: keyboard, motion: profile}
/**/panorama_head:
  ros__parameters: {width: 320, height: 180, hfov: 1.5707963267948966}
search_policy:
  ros__parameters:
    policy: random
    policy.seed: 7
other:
  search_policy:
    ros__parameters: {policy: replay}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "nodes.yaml"
    path.write_text(FILE)
    return path


def filled(*arguments: object) -> dict[str, Any]:
    args = build_parser().parse_args(["sim", *(str(argument) for argument in arguments)])
    fill_in(args)
    return vars(args)


def test_what_is_left_out_is_left_to_the_file(file: Path) -> None:
    args = filled("--params-file", file)
    assert (args["policy"], args["motion"], args["size"]) == ("random", "profile", (320, 180))
    assert args["hfov"] == pytest.approx(90.0) and args["sampling"] == "exact" and args["supersample"] == 1
    assert args["policy_values"].settings() == {"seed": 7}


def test_the_command_line_goes_first(file: Path) -> None:
    more = ("--policy", "signs", "--motion", "instant", "--size", "640x360", "--hfov", 60)
    args = filled("--params-file", file, *more)
    assert (args["policy"], args["motion"], args["size"], args["hfov"]) == ("signs", "instant", (640, 360), 60.0)


def test_without_a_file_there_are_the_defaults() -> None:
    args = filled()
    assert (args["policy"], args["motion"], args["size"], args["hfov"]) == ("signs", "instant", (1920, 1080), 100.0)


def test_sections_are_found_by_the_nodes_full_names(file: Path) -> None:
    assert filled("--params-file", file, "--namespace", "other")["policy"] == "replay"
    assert filled("--params-file", file, "--namespace", "third")["policy"] == "keyboard", "only /** fits"


PATTERNS = [
    "/**",
    "/*/panorama_head",
    "/**/panorama_head",
    "/**/head/*",
    "/a/head/panorama_head",
    "a/head/panorama_head",
    "/a/*",
    "/*",
    "panorama_head",
    "/head/panorama_head",
    "/a/**",
    "/**/panorama",
]


def read_by_ros(name: str, namespace: str, domain: int, *files: Path) -> dict[str, Any]:
    rclpy = pytest.importorskip("rclpy")
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    arguments = ["--ros-args", *(part for file in files for part in ("--params-file", str(file)))]
    node = rclpy.create_node(name, namespace=namespace, context=context, cli_args=arguments)
    try:
        return {name: given.value for name, given in node._parameter_overrides.items() if name != "use_sim_time"}
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_ros_itself_finds_the_same_sections(tmp_path: Path, domain: int, pattern: str) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text(f"{pattern}: {{ros__parameters: {{width: 777, lens: {{focal: {{x: 3}}}}}}}}")
    assert ParamsFile(path).head("a").values == read_by_ros(HEAD, f"/a/{HEAD_NAMESPACE}", domain, path)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_ros_itself_prefers_the_same_section(tmp_path: Path, domain: int, order: tuple[int, ...]) -> None:
    for node, inner, name, values in (
        (HEAD, f"/{HEAD_NAMESPACE}", "width", (100, 200, 300)),
        (POLICY, "", "policy", ("random", "replay", "signs")),
    ):
        patterns = ("/**", f"/**/{node}", f"/a{inner}/{node}")
        path = tmp_path / f"{node}.yaml"
        path.write_text("\n".join(f"{patterns[n]}: {{ros__parameters: {{{name}: {values[n]}}}}}" for n in order))
        read = read_by_ros(node, f"/a{inner}", domain, share_file("config", f"{node}.yaml"), path)
        file = ParamsFile(path)
        assert (file.head("a") if node == HEAD else file.policy("a")).values[name] == read[name]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ("motion: slow", "panorama_head's motion is 'slow'; one of instant, profile is expected"),
        ("width: 5", "panorama_head's width is 5; a whole number from 16 to 8192 is expected"),
        ("hfov: wide", "panorama_head's hfov is 'wide'"),
        ("policy: 3", "search_policy's policy is 3; a text is expected"),
        ("policy: psychic", "no policy 'psychic'"),
        ("{policy: random, policy.luck: 3}", "no setting luck"),
        ("calibration: /gone/ost.yaml", "/gone/ost.yaml: cannot be read"),
        ("{sampling: hstar, supersample: 2}", "--supersample 1 only"),
    ],
)
def test_a_value_that_cannot_be_is_named_at_the_start(
    hvs: Hvs, scenes: Path, tmp_path: Path, values: str, says: str
) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text(f"/**: {{ros__parameters: {values if values.startswith('{') else '{' + values + '}'}}}")
    code, _, err = hvs("sim", "--scenes", scenes, "--params-file", path)
    assert code == 2 and says in err and err.count("\n") == 1


def test_a_calibrated_camera_is_described_by_its_file_alone(tmp_path: Path) -> None:
    ost = tmp_path / "ost.yaml"
    ost.write_text(
        "{image_width: 640, image_height: 480, distortion_model: plumb_bob,"
        " camera_matrix: {rows: 3, cols: 3, data: [320, 0, 320, 0, 320, 240, 0, 0, 1]},"
        " distortion_coefficients: {rows: 1, cols: 5, data: [0, 0, 0, 0, 0]}}"
    )
    path = tmp_path / "nodes.yaml"
    path.write_text(f"/**: {{ros__parameters: {{calibration: {ost}}}}}")
    args = filled("--params-file", path)
    assert args["size"] == (640, 480) and args["hfov"] == pytest.approx(90.0, abs=0.5)


def test_size_and_calibration_are_not_both_taken(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text("/**: {ros__parameters: {calibration: /gone/ost.yaml}}")
    code, _, err = hvs("sim", "--scenes", scenes, "--params-file", path, "--size", "640x360")
    assert code == 2 and "leave out --size and --hfov" in err and err.count("\n") == 1


def test_banner_table_and_results_name_what_ran(
    start: Callable[..., Command], scenes: Path, file: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results.jsonl"
    command = start("sim", "--scenes", scenes, "--episodes", 1, "--params-file", file, "--results", results)
    assert command.wait() == 0, command.output
    assert command.output.startswith("hvs sim: policy 'random' in ")
    assert "Policy 'random' in scenes, views 320x180, 90° exact, through ROS 2" in command.output
    settings = json.loads(results.read_text().splitlines()[0])["settings"]
    assert (settings["policy"], settings["motion"]) == ("random", "profile")
    assert settings["policy_settings"] == {"seed": 7} and settings["camera"]["width"] == 320


def test_up_leaves_to_the_file_what_was_left_out(hvs: Hvs, scenes: Path, tmp_path: Path) -> None:
    pytest.importorskip("rclpy")
    pytest.importorskip("hvs_interfaces")
    path = tmp_path / "nodes.yaml"
    path.write_text("/**: {ros__parameters: {policy: random, policy.luck: 3}}")
    code, _, err = hvs("up", "--scenes", scenes, "--params-file", path)
    assert code == 2 and "policy 'random' has no setting luck" in err
