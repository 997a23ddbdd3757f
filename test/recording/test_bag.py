"""A bag is what ros2 bag, Foxglove and rosbags expect, and never looks finished before it is."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest
import yaml
from recording_builders import KINDS, LATCHED, append, episode, write
from rosbags.interfaces import QosDurability, QosReliability
from rosbags.rosbag2 import Reader

from hvs_ros.recording.bag import MARKER, EpisodeBag, Topic, is_being_written
from hvs_ros.recording.definitions import Definitions
from hvs_ros.recording.errors import RecordingError


def metadata(path: Path) -> dict:
    return yaml.safe_load((path / "metadata.yaml").read_text())["rosbag2_bagfile_information"]


def test_rosbags_reads_back_every_message(tmp_path: Path) -> None:
    sent = episode()
    with write(tmp_path, sent) as bag:
        pass
    with Reader(bag.path) as reader:
        read = [(connection.topic, stamp, bytes(data)) for connection, stamp, data in reader.messages()]
    assert sorted(read) == sorted((item.topic, item.ns, item.data) for item in sent)


def test_mcap_decodes_it(tmp_path: Path) -> None:
    """Another implementation, the one behind Foxglove."""
    decoder = pytest.importorskip("mcap_ros2.decoder", reason="mcap-ros2-support is not installed")
    reader = pytest.importorskip("mcap.reader")
    with write(tmp_path) as bag:
        pass
    with (bag.path / f"{bag.path.name}.mcap").open("rb") as file:
        made = reader.make_reader(file, decoder_factories=[decoder.DecoderFactory()])
        assert made.get_header().profile == "ros2"
        decoded = [message for *_, message in made.iter_decoded_messages(topics=["/search/turn"])]
        channels = made.get_summary().channels.values()
    assert [message.turn for message in decoded] == [1, 2, 3]
    assert decoded[0].command.yaw == pytest.approx(-1.5707963)
    assert all("offered_qos_profiles" in channel.metadata for channel in channels)


def test_metadata_is_what_humble_reads_too(tmp_path: Path) -> None:
    with write(tmp_path) as bag:
        bag.description = {"task": {"instruction": "find: 'it' \"now\"\n- please"}}
    content = metadata(bag.path)
    assert content["version"] == 8 and content["storage_identifier"] == "mcap"
    assert content["relative_file_paths"] == ["bag.mcap"]
    assert content["message_count"] == len(episode())
    for topic in content["topics_with_message_count"]:
        profiles = topic["topic_metadata"]["offered_qos_profiles"]
        # Version 8 holds the profiles as a text with numbers in it.
        assert isinstance(profiles, str)
        latched = topic["topic_metadata"]["name"].lstrip("/") in LATCHED
        assert yaml.safe_load(profiles)[0]["durability"] == (1 if latched else 2)
    assert json.loads(content["custom_data"]["hvs_ros"])["task"]["instruction"].startswith("find: 'it'")


def test_latched_topics_stay_latched(tmp_path: Path) -> None:
    with write(tmp_path) as bag:
        pass
    with Reader(bag.path) as reader:
        profiles = {c.topic.lstrip("/"): c.ext.offered_qos_profiles[0] for c in reader.connections}
    assert {t for t, p in profiles.items() if p.durability is QosDurability.TRANSIENT_LOCAL} == LATCHED & set(profiles)
    assert {p.reliability for p in profiles.values()} == {QosReliability.RELIABLE}


def test_definitions_are_whole_and_carry_units(tmp_path: Path) -> None:
    definition = Definitions()["hvs_interfaces/msg/Turn"]
    assert "MSG: hvs_interfaces/HeadPose" in definition.text and "MSG: builtin_interfaces/Time" in definition.text
    assert "# rad, left positive" in definition.text
    assert definition.digest.startswith("RIHS01_")


def test_hashes_are_those_of_the_generators() -> None:
    """Where the installation carries them, what is computed here agrees."""
    import sys

    compared = 0
    for kind in KINDS.values():
        package, _, name = kind.partition("/msg/")
        path = Path(sys.prefix) / "share" / package / "msg" / f"{name}.json"
        if path.exists():
            hashes = {item["type_name"]: item["hash_string"] for item in json.loads(path.read_text())["type_hashes"]}
            assert Definitions()[kind].digest == hashes[kind]
            compared += 1
    if not compared:
        pytest.skip("no ROS installation with type hashes is here")


def test_an_unknown_type_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no_such_msgs/msg/Thing"), EpisodeBag(tmp_path, "bag") as bag:
        bag.add(Topic("/x", "no_such_msgs/msg/Thing"))


def test_it_is_marked_until_it_is_finished(tmp_path: Path) -> None:
    bag = write(tmp_path)
    bag.flush()
    assert not (bag.path / "metadata.yaml").exists() and (bag.path / MARKER).exists()
    assert is_being_written(bag.path)
    bag.close()
    assert (bag.path / "metadata.yaml").exists() and not (bag.path / MARKER).exists()
    assert not is_being_written(bag.path)
    bag.close()


def test_an_error_leaves_it_marked(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), write(tmp_path) as bag:
        raise RuntimeError("something else")
    assert (bag.path / MARKER).exists() and not (bag.path / "metadata.yaml").exists()
    assert "something else" in (bag.path / MARKER).read_text()


def test_a_directory_that_is_a_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match="file"):
        EpisodeBag(tmp_path / "file", "bag")


def test_a_vanished_directory_is_noticed(tmp_path: Path) -> None:
    bag = write(tmp_path)
    for file in bag.path.iterdir():
        file.unlink()
    bag.path.rmdir()
    append(bag, episode()[0])
    with pytest.raises(RecordingError, match="bag"):
        bag.flush()
    bag.abandon("gone")


def _record(directory: str, barrier: object) -> None:
    barrier.wait()  # type: ignore[attr-defined]
    with write(Path(directory), name="same"):
        pass


def test_writers_in_one_directory_never_meet(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(3)
    writers = [context.Process(target=_record, args=(str(tmp_path), barrier)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["same", "same_2", "same_3"]
    for path in tmp_path.iterdir():
        assert metadata(path)["message_count"] == len(episode())
