"""A wheel, installed somewhere, has everything: code, share files, and executables where ROS looks for them."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NODES = ("panorama_head", "robot_head", "neck_twin", "search_policy", "episode_recorder", "benchmark")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as pip does it, elsewhere, so that the source tree stays as it is."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("package.xml", "setup.py", "setup.cfg", "resource", "hvs_ros", "launch", "config"):
        (source / name).symlink_to(ROOT / name)
    (source / "scenes").mkdir()
    (source / "scenes" / "README.md").write_text("a file that lies in a folder of its own")
    pytest.importorskip("setuptools.command.bdist_wheel", reason="an older setuptools cannot build a wheel by itself")
    result = subprocess.run(
        [sys.executable, "-c", f"import setuptools.build_meta as backend; backend.build_wheel({str(folder)!r})"],
        cwd=source,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def prefix(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files where pip puts them."""
    prefix = tmp_path_factory.mktemp("prefix")
    code = prefix / "lib" / "python3" / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            head, _, tail = info.filename.partition(".data/data/")
            target = prefix / tail if tail else code / head
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(info))
            if info.external_attr >> 16 & 0o111:
                target.chmod(0o755)
    return prefix


def test_share_files_are_found_from_the_installed_code(prefix: Path) -> None:
    code = prefix / "lib" / "python3" / "site-packages"
    result = subprocess.run(
        [sys.executable, "-c", "import hvs_ros.share as s; print(s.share_directory()); print(s.sample_scenes())"],
        cwd=prefix,
        env={**os.environ, "PYTHONPATH": str(code)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    share = prefix / "share" / "hvs_ros"
    assert result.stdout.split() == [str(share), str(share / "scenes")]
    assert (prefix / "share" / "ament_index" / "resource_index" / "packages" / "hvs_ros").is_file()
    assert (share / "launch" / "sim.launch.py").is_file() and (share / "launch" / "real.launch.py").is_file()


@pytest.mark.parametrize("name", ("hvs", *NODES))
def test_ros_finds_the_executables_of_a_wheel(prefix: Path, name: str) -> None:
    wrapper = prefix / "lib" / "hvs_ros" / name
    assert os.access(wrapper, os.X_OK)
    script = prefix / "bin" / name
    script.parent.mkdir(exist_ok=True)
    script.write_text('#!/bin/sh\necho "$0" "$@"\n')
    script.chmod(0o755)
    result = subprocess.run([wrapper, "a b"], capture_output=True, text=True, timeout=20, check=True)
    assert result.stdout.endswith(f"bin/{name} a b\n")
