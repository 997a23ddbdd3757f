"""The engine over torch, on tiny models of the real architecture: the same tokens as transformers, whatever is kept."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.conversation import Message, Shown
from hvs_ros.policy.engine import Answer, Canceled
from hvs_ros.policy.qwen.checkpoint import read_checkpoint
from hvs_ros.policy.qwen.engine import QwenEngine
from hvs_ros.policy.shown import show

SIZES = ((180, 320), (200, 300), (90, 400))
SYSTEM = Message("system", ("You turn a head and search. rotate(yaw,pitch), submit(yaw,pitch).",))
LIMIT = 16


def engine(folder: Path, **options: Any) -> QwenEngine:
    from hvs_ros.policy.torch_device import choose_device
    from hvs_ros.policy.torch_model import load_network

    checkpoint = read_checkpoint(folder)
    return QwenEngine(checkpoint, load_network(checkpoint, choose_device("cpu")), **{"max_tokens": LIMIT, **options})


def view(turn: int) -> Shown:
    height, width = SIZES[turn % len(SIZES)]
    return show(np.random.default_rng(turn).integers(0, 256, (height, width, 3), np.uint8))


def question(turn: int) -> Message:
    return Message("user", (f"Turn {turn}: ", view(turn), "\nFind the exit sign."))


def ask(engine: QwenEngine, messages: Sequence[Message]) -> Answer:
    return engine.answer(messages, threading.Event())


def talk(
    first: QwenEngine, *others: QwenEngine, turns: int, window: int
) -> Iterator[tuple[list[Message], list[Answer]]]:
    """Ask all engines the same, turn by turn; the first one's answers go on in the conversation."""
    said: list[Message] = []
    for turn in range(1, turns + 1):
        said.append(question(turn))
        messages = [SYSTEM, *said[-window:]]
        answers = [ask(one, messages) for one in (first, *others)]
        yield messages, answers
        said.append(Message("assistant", (answers[0].text,)))


def transformers_say(folder: Path, model: Any, messages: list[Message], ids: list[int]) -> list[int]:
    """Return the tokens that transformers itself generates, with its own processing of the pictures."""
    import torch
    import transformers
    from PIL import Image

    try:
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil as Processor
    except ImportError:  # version 4
        from transformers import Qwen2VLImageProcessor as Processor
    processor = Processor.from_pretrained(folder)
    pictures = [Image.open(io.BytesIO(shown.data)) for message in messages for shown in message.pictures]
    prompt = torch.tensor([ids])
    kinds = {"mm_token_type_ids": (prompt == model.config.image_token_id).int()}
    out = model.generate(
        input_ids=prompt,
        attention_mask=torch.ones_like(prompt),
        **processor(images=pictures, return_tensors="pt"),
        **(kinds if int(transformers.__version__.split(".")[0]) >= 5 else {}),
        max_new_tokens=LIMIT,
        do_sample=False,
    )
    return list(out[0, len(ids) :].tolist())


def reuse(answer: Answer) -> tuple[int, int, int]:
    """Return the tokens reused, those of the prompt, and the pictures newly seen."""
    found = re.search(r"(\d+) of (\d+) prompt tokens reused, (\d+) of", answer.detail)
    assert found is not None, answer.detail
    return int(found[1]), int(found[2]), int(found[3])


def test_tokens_are_those_of_transformers_turn_after_turn(tiny_checkpoint: Path) -> None:
    """Several sizes, a window that slides; with what is kept between turns, without, and read in small pieces."""
    import transformers

    model = transformers.AutoModelForImageTextToText.from_pretrained(tiny_checkpoint).eval()
    keeping, forgetting, pieces = engine(tiny_checkpoint), engine(tiny_checkpoint, reuse=False), engine(tiny_checkpoint)
    pieces._network.chunk = 37
    texts, known = [], 0
    for messages, answers in talk(keeping, forgetting, pieces, turns=6, window=7):
        turn = len(texts) + 1
        kept = answers[0]
        assert {answer.text for answer in answers} == {kept.text}, f"turn {turn}"
        assert {answer.usage for answer in answers} == {kept.usage}
        # Earlier answers stand in the prompt in the tokens in which the model said them.
        prompt = keeping._chat.encode(messages).ids.tolist()
        theirs = transformers_say(tiny_checkpoint, model, messages, prompt)
        ours = keeping._reader.known.ids[len(prompt) :].tolist()
        assert ours == theirs[: len(ours)] and len(theirs) <= len(ours) + 1, f"turn {turn}"
        reused, tokens, looked = reuse(kept)
        assert looked == 1, "a picture is seen once, also when the window slides"
        assert (reused >= known) if turn <= 4 else (0 < reused < 60), f"turn {turn}: {kept.detail}"
        assert reuse(answers[1])[::2] == (0, len(messages) // 2)
        known = tokens
        texts.append(kept.text)
    assert len(set(texts)) > 3, "the answers depend on what is shown"


def test_another_search_has_nothing_of_the_last_one(tiny_checkpoint: Path) -> None:
    used, fresh = engine(tiny_checkpoint), engine(tiny_checkpoint)
    for _ in talk(used, turns=2, window=9):
        pass
    other = [SYSTEM, Message("user", ("Find the lift. ", view(5)))]
    assert ask(used, other).text == ask(fresh, other).text
    without_system = [Message("user", ("Find the lift. ", view(5)))]
    assert ask(used, without_system).text == ask(fresh, without_system).text


def test_a_stop_string_ends_an_answer(speaking_checkpoint: Path) -> None:
    answer = ask(engine(speaking_checkpoint), [SYSTEM, question(1)])
    assert (answer.text, answer.finish) == ("<answer>submit(30,5)</answer>", "stop")
    assert answer.usage.completion_tokens == 10 and answer.usage.image_tokens == 77
    assert answer.detail.startswith("300x200 seen as 308x196, 77 image tokens, 0 of ")


def test_the_token_limit_ends_an_answer(endless_checkpoint: Path) -> None:
    answer = ask(engine(endless_checkpoint), [SYSTEM, question(1)])
    assert answer.finish == "length" and answer.usage.completion_tokens == LIMIT


class Canceling(threading.Event):
    """Is set from the n-th time on that it is looked at."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.left = after

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_canceled_anywhere_it_answers_the_next_time_as_ever(tiny_checkpoint: Path) -> None:
    """Between layers of the vision tower, between layers while the prompt is read, and between tokens."""
    canceled, fresh = engine(tiny_checkpoint), engine(tiny_checkpoint)
    canceled._network.chunk = fresh._network.chunk = 50
    first, other = [SYSTEM, question(1)], [Message("user", ("Hello.",))]
    expected = ask(fresh, first).text
    looks = Canceling(10**6)
    assert engine(tiny_checkpoint).answer(first, looks).text == expected
    total = 10**6 - looks.left
    assert total > 3 * LIMIT, "between tokens and between layers"
    for after in (0, 1, 2, 3, 5, 6, 7, 9, 12, 30, total - 1):
        ask(canceled, other)  # nothing of it is of use
        with pytest.raises(Canceled):
            canceled.answer(first, Canceling(after))
        again = ask(canceled, first)
        assert again.text == expected, f"canceled at look {after}"
    assert reuse(again)[0] == reuse(again)[1] - 1, "the last token is always read, for what follows it"


def test_close_ends_the_answer_under_way(endless_checkpoint: Path) -> None:
    speaking = engine(endless_checkpoint, max_tokens=100_000)
    ended: list[BaseException] = []

    def run() -> None:
        try:
            ask(speaking, [SYSTEM, question(1)])
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    speaking.close()
    thread.join(30)
    assert len(ended) == 1 and isinstance(ended[0], Canceled)
    speaking.close()
    with pytest.raises(Canceled):
        ask(speaking, [SYSTEM, question(1)])


def test_what_cannot_be_answered_is_said(tiny_checkpoint: Path) -> None:
    asked = engine(tiny_checkpoint, max_tokens=127_990)
    with pytest.raises(PolicyError, match="more than the 128000"):
        ask(asked, [SYSTEM, question(1)])
    asked = engine(tiny_checkpoint)
    shown = view(1)
    with pytest.raises(PolicyError, match="said to be"):
        ask(asked, [Message("user", (Shown(shown.data, shown.media_type, 28, 28),))])
    with pytest.raises(PolicyError, match="cannot be decoded"):
        ask(asked, [Message("user", (Shown(shown.data[:50], shown.media_type, 300, 200),))])
    assert ask(asked, [SYSTEM, question(1)]).text == ask(engine(tiny_checkpoint), [SYSTEM, question(1)]).text


def test_a_tokenizer_of_another_model_is_refused(tiny_checkpoint: Path, tmp_path: Path) -> None:
    import json
    import shutil

    other = Path(shutil.copytree(tiny_checkpoint, tmp_path / "other"))
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "image_token_id": 7}))
    with pytest.raises(PolicyError, match="of different models"):
        engine(other)
