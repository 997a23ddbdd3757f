"""What a protocol fixes, what it fills in, and that every departure from it is named."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from benchmark_builders import make_episode, submitted

from hvs_ros.benchmark.protocol import PROTOCOLS, PUBLISHED_PROMPTS_SHA256, ProtocolError
from hvs_ros.benchmark.result import judge
from hvs_ros.benchmark.results_file import ResultsError, ResultsFile, read_results
from hvs_ros.benchmark.settings import RunSettings, differences
from hvs_ros.panorama.camera import TRAINING
from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.model_settings import ModelSettings
from hvs_ros.search.scoring import ScoringMode

PAPER, REFERENCE = PROTOCOLS["paper"], PROTOCOLS["reference"]
MODULE = """
def system_prompt(format, is_nav): return "Search."
def init_observation_template(observation, instruction): return observation + instruction
def action_template(**values): return values["observation"]
format_prompt = {"free_think": lambda **values: "Answer."}
"""
ENV = 'info = {}\ninfo["env_feedback"] = f"({self.yaw},{self.pitch})" if ok else "no"\n'


@pytest.fixture
def prompt_module(tmp_path: Path) -> Path:
    path = tmp_path / "prompt.py"
    path.write_text(MODULE, encoding="utf-8")
    return path


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_a_protocol_fixes_all_that_a_model_is_asked_with(protocol: Any) -> None:
    settings = ModelSettings.of(protocol.model)
    assert {field.name for field in fields(settings)} - set(protocol.model) == {"prompts"}
    assert (protocol.camera.width, protocol.camera.height, protocol.camera.hfov_deg) == (1920, 1080, 100.0)
    assert (protocol.max_turns, settings.views, settings.temperature, settings.max_tokens) == (10, 5, 0.0, 1024)
    assert (settings.image_format, settings.jpeg_quality, settings.parser) == ("jpeg", 85, "lenient")


def test_the_two_protocols_differ_in_what_the_published_code_does() -> None:
    assert (PAPER.sampling, PAPER.scoring) == ("exact", ScoringMode.PAPER)
    assert (REFERENCE.sampling, REFERENCE.scoring) == ("hstar", ScoringMode.REFERENCE)
    assert {name for name in PAPER.model if PAPER.model[name] != REFERENCE.model[name]} == {"window", "stop"}
    assert any("3600" in note for note in REFERENCE.notes)
    assert all(any("never scored" in note for note in protocol.notes) for protocol in PROTOCOLS.values())


def test_the_document_names_what_they_fix() -> None:
    text = (Path(__file__).parents[2] / "docs" / "protocols.md").read_text(encoding="utf-8")
    for protocol in PROTOCOLS.values():
        named = {f"`{name}:={protocol.model[name]}`" for name in ("window", "stop")} | {f"`{protocol.sampling}`"}
        assert {name for name in named if name not in text} == set()
    assert text.count("\n- ") == 1 + len(REFERENCE.notes), "each note, and the data set"


def test_what_is_given_stands_and_the_rest_is_the_protocols() -> None:
    settings = PAPER.policy_settings("server", {"views": 3, "base_url": "http://here:1"})
    assert settings == {**PAPER.model, "views": 3, "base_url": "http://here:1"}
    assert PAPER.policy_settings("random", {"seed": 4}) == {"seed": 4}, "its views are none of a model's"
    with pytest.raises(PolicyError, match="no policy"):
        PAPER.policy_settings("nobody", {})


def test_a_run_that_keeps_its_protocol_has_no_deviations() -> None:
    for policy in ("random", "server"):
        settings = PAPER.run_settings(policy, {})
        assert ("parser" in settings.policy_settings) == (policy == "server")
        assert settings.deviations == ()
        assert (settings.protocol, settings.scoring, settings.seed, settings.max_turns) == ("paper", "paper", 42, 10)
    assert REFERENCE.run_settings("random", {}).deviations == ()
    assert REFERENCE.run_settings("random", {}).view == {"sampling": "hstar", "supersample": 1}


def test_every_departure_is_named() -> None:
    settings = PAPER.run_settings(
        "server",
        {"views": 3, "window": "published", "parser": "strict", "jpeg_quality": 60, "timeout": 5.0},
        camera=TRAINING,
        sampling="hstar",
        max_turns=5,
        scoring=ScoringMode.REFERENCE,
    )
    assert set(settings.deviations) == {
        "view: 1280x720 instead of 1920x1080",
        "sampling: hstar instead of exact",
        "turns: 5 instead of 10",
        "scoring: reference instead of paper",
        "window: published instead of views",
        "views: 3 instead of 5",
        "parser: strict instead of lenient",
        "jpeg_quality: 60 instead of 85",
    }
    narrow = replace(settings, camera={"width": 1920, "height": 1080, "hfov_deg": 90.0}, view={"sampling": "exact"})
    assert "field of view: 90° instead of 100°" in PAPER.deviations(narrow)
    fine = replace(settings, view={"sampling": "exact", "supersample": 2})
    assert "supersampling: 2 instead of 1" in PAPER.deviations(fine)


def test_a_setting_that_was_left_to_the_policy_counts_as_well() -> None:
    """Someone who makes the settings by hand may leave out what the protocol would have filled in."""
    bare = replace(REFERENCE.run_settings("server", {"prompts": "hvs"}), policy_settings={"prompts": "hvs"})
    assert {line.split(":")[0] for line in REFERENCE.deviations(bare)} == {"window", "stop", "prompts"}


def test_reference_needs_the_published_words_or_says_that_it_has_others(prompt_module: Path) -> None:
    with pytest.raises(ProtocolError, match=r"--prompts PATH/vagen/env/hstar/prompt.py.*--prompts hvs"):
        REFERENCE.run_settings("server", {})
    (named,) = REFERENCE.run_settings("server", {"prompts": "hvs"}).deviations
    assert named.startswith("prompts: hvs (hvs, SHA-256 ") and named.endswith("instead of the published prompt.py")
    (named,) = REFERENCE.run_settings("server", {"prompts": str(prompt_module)}).deviations
    assert "prompt.py (published, SHA-256 " in named, "another module than the published one"
    with pytest.raises(PolicyError, match="there are no prompts"):
        REFERENCE.run_settings("server", {"prompts": "/nowhere/prompt.py"})


def test_the_published_words_are_known_by_their_hash(prompt_module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import hashlib

    digest = hashlib.sha256(prompt_module.read_bytes()).hexdigest()
    monkeypatch.setattr("hvs_ros.benchmark.protocol.PUBLISHED_PROMPTS_SHA256", digest)
    (named,) = REFERENCE.run_settings("server", {"prompts": str(prompt_module)}).deviations
    assert named.startswith("feedback: in own words")
    (prompt_module.parent / "env.py").write_text(ENV, encoding="utf-8")
    assert REFERENCE.run_settings("server", {"prompts": str(prompt_module)}).deviations == ()
    assert len(PUBLISHED_PROMPTS_SHA256) == 64


def test_what_changes_a_score_is_compared_and_the_machine_is_not(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    facts = {"model": "HVS-3B", "prompts_sha256": "ab", "parser": "lenient"}
    settings = PAPER.run_settings("random", {"seed": 1}).with_facts({**facts, "device": "cuda:0"})
    settings = settings.with_notes({"in_flight": 64, "dataset": "/data/hstar_bench"})
    with ResultsFile.create(path, settings) as results:
        results.append(judge(make_episode(tmp_path), submitted(91.0)))
    written = read_results(path)[0]
    assert written["notes"] == {"device": "cuda:0", "in_flight": 64, "dataset": "/data/hstar_bench"}
    assert (written["protocol"], written["facts"]) == ("paper", facts)

    elsewhere = PAPER.run_settings("random", {"seed": 1}).with_facts({**facts, "device": "cpu"})
    ResultsFile.resume(path, elsewhere).close()
    for changed, named in [
        (REFERENCE.run_settings("random", {"seed": 1}), 'protocol: was "paper", is "reference" now'),
        (PAPER.run_settings("random", {"seed": 1}, scoring=ScoringMode.REFERENCE), "scoring: was"),
        (PAPER.run_settings("random", {"seed": 1}, seed=7), "seed: was 42, is 7 now"),
        (elsewhere.with_facts({"prompts_sha256": "cd"}), 'facts.prompts_sha256: was "ab", is "cd" now'),
        (elsewhere.with_facts({"parser": "strict"}), "facts.parser"),
        (replace(elsewhere, versions={}), "versions.hvs_ros"),
    ]:
        with pytest.raises(ResultsError) as error:
            ResultsFile.resume(path, changed.with_facts({**facts, **changed.facts}))
        assert named in str(error.value)


EARLIER = (
    '{"hvs_results":1,"settings":{"policy":"random","policy_settings":{"seed":1},"camera":{"width":96,"height":54,'
    '"hfov_deg":100.0},"view":{"sampling":"exact","supersample":1},"max_turns":null,"run":"in-process",'
    '"motion":"instant","parameters":{},"versions":{"hvs_ros":"0.1"}}}\n'
)
"""What ``hvs sim`` wrote before there was a benchmark."""


def test_files_of_hvs_sim_are_read_and_continued_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(EARLIER, encoding="utf-8")
    sim = RunSettings(
        policy="random",
        policy_settings={"seed": 1},
        camera={"width": 96, "height": 54, "hfov_deg": 100.0},
        view={"sampling": "exact", "supersample": 1},
        versions={"hvs_ros": "0.1"},
    )
    with ResultsFile.resume(path, sim) as results:
        results.append(judge(make_episode(tmp_path), submitted(91.0)))
    assert list(read_results(path)[1]) == ["hall/0/0"]
    fresh = tmp_path / "fresh.jsonl"
    ResultsFile.create(fresh, sim).close()
    assert fresh.read_text(encoding="utf-8") == EARLIER, "and are written as ever"
    with pytest.raises(ResultsError, match='protocol: was not set, is "paper" now'):
        ResultsFile.resume(path, PAPER.run_settings("random", {"seed": 1}))


def test_parts_of_a_benchmark_may_be_made_on_several_machines() -> None:
    def written(protocol: str, prompts: str, url: str, digest: str = "ab") -> dict[str, Any]:
        settings = {"prompts": prompts, "base_url": url, "views": 5}
        run = RunSettings("server", policy_settings=settings, protocol=protocol)
        return run.with_facts({"prompts_sha256": digest} if digest else {}).to_json()

    here, there = ("/home/a/prompt.py", "http://one:8000/v1"), ("/home/b/prompt.py", "http://two:8000/v1")
    assert differences(written("paper", *here), written("paper", *there)) == []
    (named,) = differences(written("paper", *here), written("paper", *there, digest="cd"))
    assert named.startswith("facts.prompts_sha256")
    (named,) = differences(written("paper", *here, digest=""), written("paper", *there, digest=""))
    assert named.startswith("policy_settings.prompts"), "nothing else tells whether they are the same"
    (named,) = differences(written("", *here), written("", *there))
    assert named.startswith("policy_settings.base_url"), "a run of hvs sim is continued with its own server"


def test_only_the_notes_of_a_run_are_passed_over() -> None:
    assert differences({"notes": {"a": 1}}, {"notes": {"a": 2}}) == []
    assert differences({"facts": {"notes": 1}}, {"facts": {"notes": 2}}) == ["facts.notes: was 1, is 2 now"]


def test_of_two_policies_what_each_has_for_itself_is_not_listed() -> None:
    one = RunSettings("random", policy_settings={"seed": 1}).to_json()
    other = RunSettings("server", policy_settings={"views": 5, "stop": "answer"}, max_turns=5).to_json()
    assert differences(one, other) == ['policy: was "random", is "server" now', "max_turns: was not set, is 5 now"]


def test_keys_are_written_nowhere() -> None:
    settings = PAPER.run_settings("random", {}).with_facts({"api_key": "s3"}).with_notes({"token": "s3"})
    assert "s3" not in json.dumps(settings.to_json())
