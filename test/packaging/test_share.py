"""The package's own files are found, or named when they are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvs_ros import share


@pytest.fixture(autouse=True)
def _forget() -> None:
    share.share_directory.cache_clear()


def installed(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    monkeypatch.setattr(share, "__file__", str(path))


def a_share(folder: Path) -> Path:
    (folder / "config").mkdir(parents=True)
    (folder / "package.xml").touch()
    return folder


def test_in_a_checkout_they_are_beside_the_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = a_share(tmp_path / "hvs")
    installed(monkeypatch, root / "hvs_ros" / "share.py")
    assert share.share_directory() == root


@pytest.mark.parametrize("code", ["lib/python3.12/site-packages", "local/lib/python3.10/dist-packages"])
def test_in_an_environment_they_are_in_share(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str) -> None:
    folder = a_share(tmp_path / "share" / "hvs_ros")
    installed(monkeypatch, tmp_path / code / "hvs_ros" / "share.py")
    assert share.share_directory() == folder


def test_a_symlinked_build_leads_to_the_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = a_share(tmp_path / "src" / "hvs")
    (root / "hvs_ros").mkdir()
    (root / "hvs_ros" / "share.py").touch()
    build = tmp_path / "build" / "hvs_ros"
    build.mkdir(parents=True)
    (build / "hvs_ros").symlink_to(root / "hvs_ros")
    monkeypatch.setattr(share, "__file__", str(build / "hvs_ros" / "share.py"))
    assert share.share_directory() == root


def test_an_incomplete_installation_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed(monkeypatch, tmp_path / "hvs_ros" / "share.py")
    with pytest.raises(share.ShareError, match="install hvs_ros again"):
        share.share_directory()
    a_share(tmp_path / "share" / "hvs_ros")
    with pytest.raises(share.ShareError, match=r"scenes is missing"):
        share.sample_scenes()


def test_this_installation_is_complete() -> None:
    assert share.share_file("config", "fastdds_shm.xml").is_file()
    assert share.share_file("launch", "sim.launch.py").is_file()
    assert any(share.sample_scenes().glob("*/annotation.json"))


def test_homes_are_found_where_they_are_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert share.user_path("~/scenes") == tmp_path / "scenes"
    assert share.user_path("~nobody-of-that-name/scenes") == Path("~nobody-of-that-name/scenes")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    assert share.write_problem(tmp_path / "new" / "folder") == "" and not list((tmp_path / "new" / "folder").iterdir())
    (tmp_path / "file").touch()
    assert f"{tmp_path / 'file' / 'x'}: cannot be written" in share.write_problem(tmp_path / "file" / "x")
