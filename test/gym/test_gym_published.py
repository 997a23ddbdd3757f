"""With the published sampling and rule, scripted episodes go as the published environment let them go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gym_builders import make

SHARED = Path(__file__).resolve().parents[3] / "shared"
EPISODES = SHARED / "reference" / "hstar_episodes.json"

pytestmark = pytest.mark.skipif(not EPISODES.exists(), reason="the published environment's episodes are not at hand")


def test_scripted_episodes_come_out_as_published() -> None:
    env = make(SHARED / "panoramas", width=32, height=18, sampling="hstar", scoring="reference")
    ids = {
        (episode.scene.name, episode.task.instruction, episode.start.yaw_deg): episode.episode_id
        for episode in env.episodes
    }
    formats = set()
    for recorded in json.loads(EPISODES.read_text())["episodes"]:
        name = ids[recorded["scene"], recorded["task"], float(recorded["start_yaw_deg"])]
        info = env.reset(options={"episode": name})[1]
        assert info["level"] == recorded["level"]
        formed = True
        for turn in recorded["turns"]:
            _, reward, terminated, truncated, info = env.step(turn["answer"])
            assert info["direction"].tolist() == [turn["yaw_deg"], turn["pitch_deg"]]
            assert (info["status"] == "ok", terminated) == (turn["valid"], turn["done"])
            assert info["well_formed"] == (turn["valid"] and turn["format_correct"])
            formed = formed and info["well_formed"]
        assert truncated == (len(recorded["turns"]) == 10 and not terminated)
        assert info.get("success", False) == recorded["success"]
        assert reward == terminated * (0.5 * recorded["success"] + 0.5 * formed)
        formats.add(terminated and formed)
    assert formats == {False, True}, "the format is paid in some episodes, and not in others"
