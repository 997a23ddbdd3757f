"""Scenes on disk: what is read, and what is refused with a reason a person can act on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvs_ros.angles import Direction
from hvs_ros.panorama.annotation import load_annotation
from hvs_ros.panorama.scene import SceneError, Tilt, check_scenes, load_scene, load_scenes
from hvs_ros.search.task import TaskKind

OBJECT = {"task": "Find the exit sign.", "yaw": [10, 20], "pitch": [-5, 5]}
PATH = {"task": "Which way is out?", "yaw": [350, 10]}
SHARED = Path(__file__).parents[3] / "shared" / "panoramas"


def make_scene(folder: Path, annotation: Any = None, panorama: str = "view.jpg") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / panorama).write_bytes(b"not opened here")
    if annotation is not None:
        text = annotation if isinstance(annotation, str) else json.dumps(annotation)
        (folder / "annotation.json").write_text(text, encoding="utf-8")
    return folder


def test_a_scene_is_a_panorama_and_its_tasks(tmp_path: Path) -> None:
    scene = load_scene(make_scene(tmp_path / "hall", [OBJECT, PATH]))
    assert scene.name == "hall"
    assert scene.panorama_path == tmp_path / "hall" / "view.jpg"
    assert scene.tilt == Tilt(0.0, 0.0)
    find, way = scene.items
    assert (find.task.instruction, find.task.kind) == ("Find the exit sign.", TaskKind.OBJECT)
    assert (find.target.yaw_deg, find.target.pitch_deg) == ((10, 20), (-5, 5))
    assert (way.task.kind, way.target.pitch_deg) == (TaskKind.PATH, None)
    assert way.target.yaw_deg == (350, 10), "an interval across yaw 0 keeps its edges"
    assert way.target.width_deg == 20


def test_without_initial_yaw_each_task_starts_four_times(tmp_path: Path) -> None:
    episodes = load_scene(make_scene(tmp_path / "hall", [OBJECT, PATH])).episodes()
    assert [spec.episode_id for spec in episodes] == [
        f"hall/{item}/{start}" for item in (0, 1) for start in (0, 90, 180, 270)
    ]
    assert [spec.start for spec in episodes[:4]] == [Direction(yaw, 0) for yaw in (0, 90, 180, 270)]
    assert all(spec.level is None and spec.scene == "hall" for spec in episodes)


def test_initial_yaw_and_level_run_in_parallel(tmp_path: Path) -> None:
    item = {**OBJECT, "initial yaw": [45, 300.5], "level": [0, 2]}
    episodes = load_scene(make_scene(tmp_path / "hall", [item])).episodes()
    assert [(spec.episode_id, spec.start.yaw_deg, spec.level) for spec in episodes] == [
        ("hall/0/45", 45, 0),
        ("hall/0/300.5", 300.5, 2),
    ]


def test_a_repeated_start_still_gets_an_id_of_its_own(tmp_path: Path) -> None:
    scene = load_scene(make_scene(tmp_path / "hall", [{**OBJECT, "initial yaw": [0, 360, 0.0]}]))
    assert [spec.episode_id for spec in scene.episodes()] == ["hall/0/0", "hall/0/0#2", "hall/0/0#3"]


@pytest.mark.parametrize(
    ("written", "read"),
    [([-10, 10], (350, 10)), ([0, 360], (0, 360)), ([-180, 180], (0, 360)), ([350, 360], (350, 0)), ([5, 5], (5, 5))],
)
def test_yaw_intervals_are_brought_to_one_turn(tmp_path: Path, written: list[float], read: tuple[float, float]) -> None:
    item = load_scene(make_scene(tmp_path, [{**PATH, "yaw": written}])).items[0]
    assert item.target.yaw_deg == read


def test_the_level_range_depends_on_the_kind(tmp_path: Path) -> None:
    extreme = {"initial yaw": [0], "level": [3]}
    assert load_scene(make_scene(tmp_path / "a", [{**PATH, **extreme}])).items[0].levels == (3,)
    with pytest.raises(SceneError, match="from 0 to 2 is expected for object search"):
        load_scene(make_scene(tmp_path / "b", [{**OBJECT, **extreme}]))


BAD_ITEMS = [
    ("hello", "is a string"),
    ({"yaw": [1, 2]}, "'task' is missing"),
    ({"task": "Find it."}, "'yaw' is missing"),
    ({**OBJECT, "task": "  "}, "instruction is empty"),
    ({**OBJECT, "task": 5}, "'task' is a number"),
    ({**OBJECT, "task": None}, "'task' is null"),
    ({**OBJECT, "yaw": 10}, "'yaw' is a number"),
    ({**OBJECT, "yaw": [1]}, "'yaw' has 1 numbers"),
    ({**OBJECT, "yaw": [1, 2, 3]}, "'yaw' has 3 numbers"),
    ({**OBJECT, "yaw": ["1", 2]}, "'yaw' holds a string, '1'"),
    ({**OBJECT, "yaw": [True, 2]}, "'yaw' holds true or false"),
    ({**OBJECT, "yaw": [10**400, 2]}, "too large"),
    ({**OBJECT, "yaw": [2048, 3000]}, "'yaw' holds 2048"),
    ({**OBJECT, "yaw": [-100, 300]}, "more than a full turn"),
    ({**OBJECT, "pitch": None}, "'pitch' is null"),
    ({**OBJECT, "pitch": []}, "'pitch' has 0 numbers"),
    ({**OBJECT, "pitch": [5, -5]}, "runs downwards"),
    ({**OBJECT, "pitch": [-95, 5]}, "'pitch' holds -95"),
    ({**OBJECT, "initial yaw": []}, "'initial yaw' has 0 numbers"),
    ({**OBJECT, "initial yaw": 90}, "'initial yaw' is a number"),
    ({**OBJECT, "initial yaw": [720]}, "'initial yaw' holds 720"),
    ({**OBJECT, "initial yaw": [0, 90], "level": [0]}, "'level' has 1 entries"),
    ({**OBJECT, "level": [0, 1]}, "'level' has 2 entries; a list of 4"),
    ({**OBJECT, "level": 1}, "'level' is a number"),
    ({**OBJECT, "initial yaw": [0], "level": [1.5]}, "'level' holds 1.5"),
    ({**OBJECT, "initial yaw": [0], "level": [True]}, "'level' holds True"),
    ({**OBJECT, "initial yaw": [0], "level": [-1]}, "'level' holds -1"),
    ({**OBJECT, "initial_yaw": [0]}, "'initial_yaw' is not known; write 'initial yaw'"),
    ({**OBJECT, "initialYaw": [0]}, "write 'initial yaw'"),
    ({**PATH, "Pitch": [0, 1]}, "write 'pitch'"),
    ({**PATH, "pitch_deg": [0, 1]}, "write 'pitch'"),
    ({**OBJECT, "levels": [0, 0, 0, 0]}, "write 'level'"),
]


@pytest.mark.parametrize(("item", "reason"), BAD_ITEMS)
def test_a_malformed_item_is_refused_with_file_item_and_reason(tmp_path: Path, item: Any, reason: str) -> None:
    folder = make_scene(tmp_path / "hall", [OBJECT, item])
    with pytest.raises(SceneError) as error:
        load_scene(folder)
    message = str(error.value)
    assert str(folder / "annotation.json") in message
    assert "item 1" in message
    assert reason in message
    if isinstance(item, dict) and isinstance(item.get("task"), str):
        assert item["task"] in message


BAD_FILES = [
    (b"", "line 1"),
    (b'[\n{"task": "a",\n]', "line 3"),
    (b'[\n{"task": "caf\xe9"}]', "line 2 is not UTF-8"),
    (b'{"task": "a", "yaw": [1, 2]}', "a list of items is expected"),
    (b"null", "holds null"),
    (b'[{"task": "a", "yaw": [NaN, 2]}]', "NaN"),
    (b'[{"task": "a", "yaw": [1, Infinity]}]', "Infinity"),
    (b'[{"task": "a", "yaw": [1, 1e999]}]', "finite"),
    (b'[{"task": "a", "yaw": [1, 2], "yaw": [3, 4]}]', "'yaw' twice"),
    (b"[" * 100_000, "annotation.json"),
    (b'[{"task": "a", "yaw": [1, ' + b"9" * 5000 + b"]}]", "annotation.json"),
]


@pytest.mark.parametrize(("content", "reason"), BAD_FILES)
def test_a_malformed_file_is_refused_with_its_name(tmp_path: Path, content: bytes, reason: str) -> None:
    folder = make_scene(tmp_path / "hall")
    (folder / "annotation.json").write_bytes(content)
    with pytest.raises(SceneError) as error:
        load_scenes(tmp_path)
    assert str(folder / "annotation.json") in str(error.value)
    assert reason in str(error.value)


def test_a_check_names_what_is_wrong_in_every_scene_and_item(tmp_path: Path) -> None:
    fine = {"task": "find the door", "yaw": [10, 20]}
    for name in ("good", "bad", "worse"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.jpg").write_bytes(b"picture")
        (folder / "annotation.json").write_text(json.dumps([fine]))
    items = [{**fine, "yaw": [400, 500]}, fine, {**fine, "task": ""}, {"yaw": [1, 2]}]
    (tmp_path / "bad" / "annotation.json").write_text(json.dumps(items))
    (tmp_path / "bad" / "scene.yaml").write_text("roll: 3")
    (tmp_path / "worse" / "annotation.json").write_text("[")
    (tmp_path / "worse" / "b.jpg").write_bytes(b"picture")
    check = check_scenes(tmp_path)
    assert [scene.name for scene in check.scenes] == ["good"]
    assert [path.parent.name for path in check.pictures] == ["bad", "good", "worse", "worse"]
    expected = [
        "bad/annotation.json: item 0",
        "item 2",
        "item 3",
        "bad/scene.yaml",
        "worse: a scene has one",
        "worse/ann",
    ]
    assert len(check.problems) == len(expected)
    assert all(words in problem for words, problem in zip(expected, check.problems, strict=True)), check.problems


def test_notes_of_other_tools_and_a_byte_order_mark_do_no_harm(tmp_path: Path) -> None:
    text = json.dumps([{**OBJECT, "comment": "seen at dusk", "id": 4, "image": "x.png"}])
    assert len(load_scene(make_scene(tmp_path, "\ufeff" + text)).items) == 1


def test_an_annotation_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    folder = make_scene(tmp_path / "hall")
    (folder / "annotation.json").mkdir()
    with pytest.raises(SceneError, match="cannot be read"):
        load_scene(folder)


def test_no_tasks_is_not_an_error(tmp_path: Path) -> None:
    assert load_scene(make_scene(tmp_path / "bare")).items == ()
    assert load_scene(make_scene(tmp_path / "empty_list", [])).episodes() == []


@pytest.mark.parametrize("ending", ["JPG", "jpeg", "png", "PNG", "tif", "tiff", "webp"])
def test_every_picture_format_is_a_panorama(tmp_path: Path, ending: str) -> None:
    folder = make_scene(tmp_path / "hall", [OBJECT], f"view.{ending}")
    (folder / "notes.txt").write_text("not a picture")
    (folder / ".hidden.jpg").write_bytes(b"x")
    assert load_scene(folder).panorama_path.name == f"view.{ending}"


def test_a_scene_has_exactly_one_panorama(tmp_path: Path) -> None:
    folder = make_scene(tmp_path / "hall", [OBJECT])
    (folder / "other.png").write_bytes(b"x")
    with pytest.raises(SceneError, match=r"here are 2: other\.png, view\.jpg"):
        load_scene(folder)
    for panorama in ("other.png", "view.jpg"):
        (folder / panorama).unlink()
    with pytest.raises(SceneError, match="no panorama in this folder"):
        load_scenes(tmp_path)


def test_a_panorama_that_is_empty_or_a_broken_link_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jpg"
    empty.write_bytes(b"")
    with pytest.raises(SceneError, match=r"empty\.jpg: the file is empty"):
        load_scenes(tmp_path)
    empty.unlink()
    (tmp_path / "link.png").symlink_to(tmp_path / "gone.png")
    with pytest.raises(SceneError, match=r"link\.png: cannot be read"):
        load_scenes(tmp_path)


def test_scenes_come_sorted_with_folders_and_bare_panoramas(tmp_path: Path) -> None:
    make_scene(tmp_path / "shop", [OBJECT])
    make_scene(tmp_path / "hall")
    make_scene(tmp_path, panorama="yard.png")
    make_scene(tmp_path, panorama="yard.jpg")
    (tmp_path / "notes").mkdir()
    (tmp_path / "manifest.json").write_text("{}")
    scenes = load_scenes(tmp_path)
    assert [scene.name for scene in scenes] == ["hall", "shop", "yard", "yard.png"]
    assert [len(scene.items) for scene in scenes] == [0, 1, 0, 0]


def test_a_directory_may_itself_be_one_scene_or_one_file(tmp_path: Path) -> None:
    folder = make_scene(tmp_path / "hall", [OBJECT])
    assert [scene.name for scene in load_scenes(folder)] == ["hall"]
    assert load_scenes(folder / "view.jpg")[0].name == "view"
    assert load_scene(folder / "view.jpg").items == ()
    (folder / "annotation.json").unlink()
    assert [scene.panorama_path for scene in load_scenes(folder)] == [folder / "view.jpg"]


def test_nothing_to_search_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="nothing to search here"):
        load_scenes(tmp_path)
    with pytest.raises(SceneError, match="there is no such folder"):
        load_scenes(tmp_path / "gone")
    with pytest.raises(SceneError, match="no such file or folder"):
        load_scene(tmp_path / "gone")
    make_scene(tmp_path / "data" / "hos_bench" / "hall", [OBJECT])
    with pytest.raises(SceneError, match="scenes are in folders in it, name one: hos_bench"):
        load_scenes(tmp_path / "data")
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(SceneError, match=r"notes\.txt: not a panorama"):
        load_scenes(tmp_path / "notes.txt")


def test_tilt_is_read_beside_the_panorama(tmp_path: Path) -> None:
    folder = make_scene(tmp_path / "hall")
    (folder / "scene.yaml").write_text("roll_deg: 1.5\npitch_deg: -2\n")
    assert load_scenes(folder)[0].tilt == Tilt(1.5, -2.0)
    assert load_scenes(tmp_path)[0].name == "hall"
    (folder / "scene.yaml").write_text("# nothing yet\n")
    assert load_scene(folder).tilt == Tilt()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("roll: 3", "'roll' is not known"),
        ("roll_deg: steep", "'roll_deg' is 'steep'"),
        ("roll_deg: .nan", "'roll_deg' is nan"),
        ("roll_deg: yes", "'roll_deg' is True"),
        ("pitch_deg: 91", "from -90 to 90"),
        ("[1, 2]", "are expected"),
        ("roll_deg: [", "not YAML"),
    ],
)
def test_a_malformed_tilt_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    folder = make_scene(tmp_path / "hall")
    (folder / "scene.yaml").write_text(text)
    with pytest.raises(SceneError) as error:
        load_scene(folder)
    assert str(folder / "scene.yaml") in str(error.value)
    assert reason in str(error.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["task", "yaw", "pitch", "initial yaw", "level", "x"]), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_either_read_or_refused(tmp_path_factory: pytest.TempPathFactory, document: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "annotation.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    try:
        items = load_annotation(path)
    except SceneError as error:
        assert str(path) in str(error)
    else:
        assert all(item.episodes("scene", 0) for item in items)


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/panoramas is not there")
def test_the_real_photographs_are_read() -> None:
    scenes = load_scenes(SHARED)
    episodes = [spec for scene in scenes for spec in scene.episodes()]
    assert len(scenes) == 10
    assert len(episodes) == 188
    assert len({spec.episode_id for spec in episodes}) == 188
    assert all(spec.level is not None for spec in episodes)
