"""package.xml, setup.py and the files that they install tell the same story."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import setuptools
import yaml

import hvs_ros
from hvs_ros.policy.registry import POLICIES
from hvs_ros.share import share_directory

ROOT = Path(__file__).resolve().parents[2]
NODES = ("panorama_head", "robot_head", "neck_twin", "search_policy", "episode_recorder", "benchmark")
PACKAGES = {  # what Python imports: the name in package.xml
    "PIL": "python3-pil",
    "cv2": "python3-opencv",
    "numpy": "python3-numpy",
    "rich": "python3-rich",
    "yaml": "python3-yaml",
}
ROS = re.compile(r"rclpy|launch|launch_ros|\w+_(msgs|srvs|interfaces)")


def package_xml(folder: Path) -> ElementTree.Element:
    return ElementTree.parse(folder / "package.xml").getroot()


@pytest.fixture
def setup(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What setup.py hands to setuptools when colcon runs it."""
    given: dict[str, Any] = {}
    monkeypatch.setattr(setuptools, "setup", given.update)
    monkeypatch.setattr("sys.argv", ["setup.py", "install"])
    monkeypatch.chdir(ROOT)
    spec = importlib.util.spec_from_file_location("hvs_setup", ROOT / "setup.py")
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return given


def test_versions_agree(setup: dict[str, Any]) -> None:
    versions = {
        package_xml(ROOT).findtext("version"),
        package_xml(ROOT / "interfaces").findtext("version"),
        setup["version"],
        hvs_ros.__version__,
        re.findall(r'^version = "(.*)"', (ROOT / "interfaces" / "pyproject.toml").read_text(), re.M)[0],
    }
    assert len(versions) == 1


def test_package_xml_names_all_that_is_imported() -> None:
    named = {element.text for element in package_xml(ROOT) if element.tag.endswith("depend")}
    imported: set[str] = set()
    for path in [*(ROOT / "hvs_ros").rglob("*.py"), *(ROOT / "launch").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.split(".")[0])
    wanted = {PACKAGES.get(name, name) for name in imported if name in PACKAGES or ROS.fullmatch(name)}
    assert wanted <= named


def test_setup_installs_what_the_code_needs(setup: dict[str, Any]) -> None:
    needed = {re.split(r"[<>=;\[ ]", name)[0] for name in setup["install_requires"]}
    assert {"numpy", "opencv-python-headless", "PyYAML", "rich"} <= needed
    # colcon cannot read a setup.py with python_requires.
    assert "python_requires" not in setup
    assert {"signs", "record", "robot", "twin", "dynamixel", "ros", "test"} <= set(setup["extras_require"])


def test_every_entry_point_is_there(setup: dict[str, Any]) -> None:
    points = setup["entry_points"]
    assert {line.split(" = ")[0] for line in points["console_scripts"]} == {"hvs", *NODES}
    assert dict(line.split(" = ") for line in points["hvs_ros.policies"]) == POLICIES.shipped
    for line in points["hvs_ros.policies"]:
        module, _, attribute = line.split(" = ")[1].partition(":")
        assert hasattr(importlib.import_module(module), attribute)
    for line in [*points["console_scripts"], *points["hvs_ros.command_backends"]]:
        assert importlib.util.find_spec(line.split(" = ")[1].partition(":")[0]) is not None


def test_colcon_installs_every_share_file(setup: dict[str, Any]) -> None:
    installed = {(folder, Path(path).name) for folder, paths in setup["data_files"] for path in paths}
    assert ("share/ament_index/resource_index/packages", "hvs_ros") in installed
    assert ("share/hvs_ros", "package.xml") in installed
    assert {("share/hvs_ros/launch", name) for name in ("sim.launch.py", "real.launch.py")} <= installed
    assert ("bin", "hvs") in installed
    assert ("share/hvs_ros/config/robots", "icub.yaml") in installed
    for folder in ("config", "scenes"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file():
                assert (f"share/hvs_ros/{path.parent.relative_to(ROOT).as_posix()}", path.name) in installed
    for _, paths in setup["data_files"]:
        assert all(not Path(path).is_absolute() and (ROOT / path).is_file() for path in paths)


@pytest.mark.parametrize("node", NODES)
def test_every_node_has_its_parameters_in_config(node: str) -> None:
    values = yaml.safe_load((share_directory() / "config" / f"{node}.yaml").read_text(encoding="utf-8"))
    for name, content in values.items():
        assert name.removeprefix("/**/") in ("/**", node)
        assert list(content) == ["ros__parameters"]


def test_ci_runs_the_command_that_people_run() -> None:
    assert "exec make test" in (ROOT / ".ci" / "run").read_text()
    assert re.search(r"^test:", (ROOT / "Makefile").read_text(), re.M)
