"""Finds scenes on disk: which panorama, which tasks, how the tripod stood.

A scene is a folder with one panorama and, if it has tasks, an ``annotation.json`` (see
:mod:`hvs_ros.panorama.annotation`). Without one, the tasks come from the user. An optional ``scene.yaml`` says how
the camera was tilted when the picture was taken::

    roll_deg: 1.5     # right side down positive
    pitch_deg: -0.8   # looking up positive

A directory of scenes holds such folders, bare panoramas, or both. Pictures are found by the ending of their name and
opened only when they are looked at, so that a directory of hundreds of them is listed at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from hvs_ros.panorama.annotation import ANNOTATION_NAME, SceneError, SceneItem, annotation_problems, load_annotation
from hvs_ros.panorama.geometry import Tilt
from hvs_ros.search.task import EpisodeSpec

__all__ = [
    "PANORAMA_SUFFIXES",
    "Scene",
    "SceneCheck",
    "SceneError",
    "SceneItem",
    "Tilt",
    "check_scenes",
    "holds_pictures",
    "holds_scenes",
    "load_scene",
    "load_scenes",
    "published_loader_reads",
]

PANORAMA_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp"})
"""Endings of panorama files, in lower case."""
SCENE_FILE_NAME = "scene.yaml"
_LEVEL = Tilt()


@dataclass(frozen=True)
class Scene:
    """A panorama and what may be searched for in it.

    Attributes:
        name: of the folder, or of the picture where it has no folder of its own; unique in its directory.
        panorama_path: the picture.
        items: the annotated tasks; empty for a bare panorama.
        tilt: of the camera that took the picture.
    """

    name: str
    panorama_path: Path
    items: tuple[SceneItem, ...] = ()
    tilt: Tilt = _LEVEL

    def episodes(self) -> list[EpisodeSpec]:
        """Return every task from every start, with ids that stay the same from run to run.

        Where the annotation gives no level, the episode's is None: it follows from how much of the target the first
        view shows, which only the camera's owner knows (:func:`hvs_ros.search.scoring.difficulty`).
        """
        return [spec for index, item in enumerate(self.items) for spec in item.episodes(self.name, index)]


def load_scene(path: Path | str) -> Scene:
    """Read one scene: a folder with one panorama, or a bare panorama file.

    Raises:
        SceneError: there is no panorama, or more than one; the annotation or scene.yaml is malformed.
    """
    path = Path(path)
    if not _exists(path):
        raise SceneError(f"{path}: there is no such file or folder")
    _check_name(path)
    if not path.is_dir():
        return _bare(path)
    panoramas = _panoramas(path)
    if not panoramas:
        raise SceneError(f"{path}: no panorama in this folder; one of {_endings()} is expected")
    if len(panoramas) > 1:
        names = ", ".join(panorama.name for panorama in panoramas)
        raise SceneError(f"{path}: a scene has one panorama, here are {len(panoramas)}: {names}{_taken(panoramas)}")
    annotation = path / ANNOTATION_NAME
    items = load_annotation(annotation) if annotation.exists() else ()
    # "." has no name of its own; a linked folder keeps its link's, which is unique in its directory.
    name = path.name if path.name not in ("", "..") else path.resolve().name
    return Scene(name, _filled(panoramas[0]), items, _tilt(path / SCENE_FILE_NAME))


def load_scenes(directory: Path | str) -> list[Scene]:
    """Read every scene of a directory, sorted by name.

    The directory holds scene folders, bare panoramas, or both; or it is itself one scene (it holds an
    ``annotation.json`` or a ``scene.yaml``), or one panorama file. Hidden entries and folders without a panorama are
    passed over.

    Raises:
        SceneError: nothing to search is there, or one of the scenes is malformed.
    """
    return [_named(place, name) for name, place in sorted(_places(Path(directory)).items())]


def holds_pictures(folder: Path) -> bool:
    """Return whether panoramas lie in a folder itself, by their names."""
    return bool(_panoramas(folder))


def holds_scenes(directory: Path) -> bool:
    """Return whether scene folders or bare panoramas lie in a folder itself."""
    return bool(_scene_folders(directory) or _panoramas(directory))


@dataclass(frozen=True)
class SceneCheck:
    """What is in a directory of scenes.

    Attributes:
        scenes: that are described as they must be.
        problems: with the others, a line each.
        pictures: of all, as far as there are any; what is in them was not looked at.
    """

    scenes: list[Scene]
    problems: list[str]
    pictures: list[Path]


def check_scenes(directory: Path | str) -> SceneCheck:
    """Return the scenes of a directory, and everything that is wrong with their descriptions.

    Raises:
        SceneError: nothing to search is there.
    """
    check = SceneCheck([], [], [])
    for name, place in sorted(_places(Path(directory)).items()):
        try:
            check.scenes.append(_named(place, name))
            check.pictures.append(check.scenes[-1].panorama_path)
        except SceneError as error:
            check.problems.extend(dict.fromkeys([str(error), *_problems(place)]))
            found = _panoramas(place) if place.is_dir() else []
            check.pictures.extend(picture for picture in found if picture.exists() and picture.stat().st_size)
    return check


def _problems(place: Path) -> list[str]:
    """Return what is wrong with the files beside a panorama, which are read one after the other."""
    if not place.is_dir():
        return []
    annotation = place / ANNOTATION_NAME
    problems = annotation_problems(annotation) if annotation.exists() else []
    try:
        _tilt(place / SCENE_FILE_NAME)
    except SceneError as error:
        problems.append(str(error))
    return problems


def _places(directory: Path) -> dict[str, Path]:
    """Return where the scenes of a directory are, by name."""
    if not _exists(directory):
        raise SceneError(f"{directory}: there is no such folder")
    if not directory.is_dir() or any((directory / name).exists() for name in (ANNOTATION_NAME, SCENE_FILE_NAME)):
        return {"": directory}
    places = {folder.name: folder for folder in _scene_folders(directory)}
    for panorama in _panoramas(directory):
        # a.jpg beside a.png, or beside a folder a
        places[panorama.name if panorama.stem in places else panorama.stem] = panorama
    if not places:
        if splits := [child.name for child in _entries(directory) if child.is_dir() and _scene_folders(child)]:
            raise SceneError(f"{directory}: the scenes are in folders in it, name one: {', '.join(splits[:5])}")
        raise SceneError(
            f"{directory}: nothing to search here; folders with a panorama and {ANNOTATION_NAME},"
            f" or panoramas ({_endings()}) are expected"
        )
    return places


def _named(place: Path, name: str) -> Scene:
    if not name:
        return load_scene(place)
    return replace(load_scene(place) if place.is_dir() else _bare(place), name=name)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise SceneError(f"{path!s:.200}: cannot be a file or folder: {error.strerror or error}") from error


def _check_name(path: Path) -> None:
    """Refuse a name that neither a message nor a results file can hold."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        shown = str(path).encode(errors="backslashreplace").decode()
        raise SceneError(f"{shown}: the name is not UTF-8; rename it") from error


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise SceneError(f"{folder}: cannot be listed: {error.strerror or error}") from error


def _panoramas(folder: Path) -> list[Path]:
    return [entry for entry in _entries(folder) if _is_picture(entry) and not entry.is_dir()]


def published_loader_reads(panorama: Path) -> bool:
    """Return whether the published loader sees a picture of this name at all."""
    return panorama.suffix in (".png", ".jpg")


def _taken(panoramas: list[Path]) -> str:
    """Say which of several pictures the published loader takes, a PNG before any JPEG, without a word about it."""
    seen = [panorama for panorama in panoramas if published_loader_reads(panorama)]
    first = [panorama for panorama in seen if panorama.suffix == ".png"] or seen
    if not first:
        return ""
    return f"; the published loader takes {first[0].name if len(first) == 1 else f'any one of {len(first)}'}, silently"


def _scene_folders(directory: Path) -> list[Path]:
    folders = (entry for entry in _entries(directory) if entry.is_dir())
    return [folder for folder in folders if (folder / ANNOTATION_NAME).exists() or _panoramas(folder)]


def _is_picture(path: Path) -> bool:
    return path.suffix.lower() in PANORAMA_SUFFIXES


def _endings() -> str:
    return ", ".join(sorted(PANORAMA_SUFFIXES))


def _bare(panorama: Path) -> Scene:
    if not _is_picture(panorama):
        raise SceneError(f"{panorama}: not a panorama; a name that ends in one of {_endings()} is expected")
    return Scene(panorama.stem, _filled(panorama))


def _filled(panorama: Path) -> Path:
    """Return the panorama, unless it cannot be one: a broken link or an empty file. Its content is not looked at."""
    try:
        size = panorama.stat().st_size
    except OSError as error:
        raise SceneError(f"{panorama}: cannot be read: {error.strerror or error}") from error
    if size == 0:
        raise SceneError(f"{panorama}: the file is empty")
    _check_name(panorama)
    return panorama


def _tilt(path: Path) -> Tilt:
    if not path.exists():
        return Tilt()
    try:
        values: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SceneError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, yaml.YAMLError, ValueError) as error:
        raise SceneError(f"{path}: not YAML: {error}") from error
    if values is None:
        return Tilt()
    if not isinstance(values, dict):
        raise SceneError(f"{path}: 'roll_deg' and 'pitch_deg' with their values are expected")
    for key, value in values.items():
        if key not in ("roll_deg", "pitch_deg"):
            raise SceneError(f"{path}: the key {key!r} is not known; 'roll_deg' and 'pitch_deg' are")
        limit = 180.0 if key == "roll_deg" else 90.0
        # Written so that NaN fails too.
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= limit:
            raise SceneError(f"{path}: {key!r} is {value!r}; degrees from -{limit:g} to {limit:g} are expected")
    return Tilt(float(values.get("roll_deg", 0.0)), float(values.get("pitch_deg", 0.0)))
