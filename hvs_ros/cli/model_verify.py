"""What ``hvs model verify`` does.

The original answers everything before the export is loaded, so that one model is in the memory at a time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from hvs_ros.cli.error import BAD_INPUT, VerbError
from hvs_ros.panorama import Camera
from hvs_ros.panorama.annotation import SceneError
from hvs_ros.policy.contract import PolicyError
from hvs_ros.policy.model_settings import ModelSettings
from hvs_ros.policy.onnx_model.agreement import Agreement, compare, in_words
from hvs_ros.policy.onnx_model.golden import Asked, GoldenSearch, ask_original, picture_searches, sample_searches
from hvs_ros.policy.onnx_model.manifest import read_manifest
from hvs_ros.policy.onnx_policy import load_engine
from hvs_ros.policy.qwen.checkpoint import read_checkpoint
from hvs_ros.policy.qwen.engine import QwenEngine
from hvs_ros.policy.qwen.tokenizer import QwenTokenizer
from hvs_ros.policy.torch_device import choose_device
from hvs_ros.policy.torch_model import load_network, require_packages
from hvs_ros.search.episode import SearchFailure
from hvs_ros.share import sample_scenes

HFOV_DEG = 100.0

Say = Callable[[str], None]


def verify(args: argparse.Namespace, say: Say) -> Agreement:
    """Compare, and return how far they agree.

    Args:
        args: the command line.
        say: is told every turn.

    Raises:
        VerbError: there is nothing to show.
        PolicyError: a model cannot be used, or the export is of another checkpoint.
    """
    settings = ModelSettings.of(dict(args.policy_setting))
    if settings.temperature > 0:
        raise PolicyError("a comparison needs greedy answers: leave temperature at 0")
    exported = read_manifest(args.exported)
    checkpoint = read_checkpoint(args.checkpoint)
    require_packages()
    _check_source(args, exported.source_sha256)
    asked = _ask(args, settings, say)
    engine = load_engine(str(args.exported), settings, provider=args.provider)
    try:
        say(f"export: {', '.join(f'{name} {value}' for name, value in engine.describe().items())}")
        compared = []
        for turn in compare(asked, engine, settings, QwenTokenizer(checkpoint.tokenizer_file)):
            say(str(turn))
            compared.append(turn)
    finally:
        engine.close()
    return Agreement.of(compared)


def _check_source(args: argparse.Namespace, sha256: str) -> None:
    from hvs_ros.policy.onnx_model.weights import Weights, source_hash

    checkpoint = read_checkpoint(args.checkpoint)
    weights = Weights(checkpoint.folder, tied=checkpoint.decoder.tied)
    if source_hash(checkpoint.folder, weights.files) != sha256:
        raise PolicyError(f"{args.exported} was not exported from {args.checkpoint}, or that has changed since")


def _ask(args: argparse.Namespace, settings: ModelSettings, say: Say) -> list[Asked]:
    checkpoint = read_checkpoint(args.checkpoint)
    original = QwenEngine(
        checkpoint, load_network(checkpoint, choose_device(args.device)), max_tokens=settings.max_tokens
    )
    asked: list[Asked] = []
    try:
        say(f"original: {', '.join(f'{name} {value}' for name, value in original.describe().items())}")
        for search in _searches(args):
            for turn in ask_original(original, settings, search):
                say(f"{turn.search} turn {turn.turn}: {in_words(turn.decision)}")
                asked.append(turn)
    except (SceneError, ValueError, SearchFailure) as error:
        raise VerbError(str(error), BAD_INPUT) from error
    finally:
        original.close()
    return asked


def _searches(args: argparse.Namespace) -> Iterator[GoldenSearch]:
    if args.frames is not None:
        return picture_searches(args.frames, args.instruction, args.searches, args.turns)
    width, height = args.size
    scenes = args.scenes or sample_scenes()
    return sample_searches(scenes, Camera(width, height, HFOV_DEG), args.searches, args.turns)
