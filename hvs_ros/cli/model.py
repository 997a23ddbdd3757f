"""``hvs model``: a checkpoint as ONNX graphs, and whether they decide as the checkpoint does."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from hvs_ros.cli.arguments import number, path, positive, setting, size
from hvs_ros.cli.error import BAD_INPUT, FAILED, VerbError

NAME = "model"
HELP = "export a Qwen2.5-VL checkpoint (HVS-3B) to ONNX for the policy onnx, and verify an export"

EXPORT = "export a checkpoint to ONNX: runs on the CPU, needs the extra 'export'"
VERIFY = "ask checkpoint and export the same and compare what they decide; exit code 1 under the threshold"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    export = actions.add_parser("export", help=EXPORT, description=EXPORT)
    export.add_argument("checkpoint", type=path, help="folder of the checkpoint")
    export.add_argument("--out", type=path, required=True, metavar="DIR", help="folder to make")
    export.add_argument(
        "--precision",
        choices=("fp32", "fp16", "int8", "int4"),
        default="fp16",
        help="of the graphs (default fp16): fp32 for the CPU and comparisons, fp16 for a GPU, int8 or int4 with the "
        "decoder's matrices in so many bits",
    )
    verify = actions.add_parser("verify", help=VERIFY, description=VERIFY)
    verify.add_argument("checkpoint", type=path, help="folder of the checkpoint that was exported")
    verify.add_argument("exported", type=path, help="folder that hvs model export has made")
    verify.add_argument("--frames", type=path, metavar="DIR", help="pictures to show (default: views of sample scenes)")
    verify.add_argument("--scenes", type=path, metavar="DIR", help="scenes to search (default: the samples)")
    verify.add_argument("--instruction", default="find the exit sign", help="what to find in --frames")
    verify.add_argument("--searches", type=positive, default=4, metavar="N", help="at most so many (default 4)")
    verify.add_argument("--turns", type=positive, default=6, metavar="N", help="of each search (default 6)")
    verify.add_argument("--size", type=size, default=(1280, 720), metavar="WxH", help="of views (default 1280x720)")
    verify.add_argument(
        "--threshold", type=number(0, 1), default=0.95, help="share of turns with the same action (default 0.95)"
    )
    verify.add_argument("--device", default="auto", help="of torch: auto, cpu, cuda (default auto)")
    verify.add_argument("--provider", default="auto", help="of ONNX Runtime: auto, cpu, cuda, tensorrt (default auto)")
    verify.add_argument(
        "--policy-setting",
        action="append",
        default=[],
        type=setting,
        metavar="KEY=VALUE",
        help="a setting that all models have, e.g. max_tokens=256; repeatable",
    )


def run(args: argparse.Namespace) -> int:
    """Export or verify."""
    from hvs_ros.policy.contract import PolicyError, PolicyUnavailableError

    try:
        return _export(args) if args.action == "export" else _verify(args)
    except PolicyUnavailableError as error:
        raise VerbError(str(error), FAILED) from error
    except PolicyError as error:
        raise VerbError(str(error), BAD_INPUT) from error


def _export(args: argparse.Namespace) -> int:
    from hvs_ros.policy.onnx_model.export import export_model

    export_model(args.checkpoint, args.out, args.precision, progress=print)
    print(f"next: hvs model verify {args.checkpoint} {args.out}")
    return 0


def _verify(args: argparse.Namespace) -> int:
    from hvs_ros.cli.model_verify import verify

    # Nothing is downloaded: both models are folders.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if args.frames is not None and args.scenes is not None:
        raise VerbError("give --frames or --scenes, not both", BAD_INPUT)
    for folder in (args.frames, args.scenes):
        if folder is not None and not Path(folder).exists():
            raise VerbError(f"there is no folder {folder}", BAD_INPUT)
    agreement = verify(args, print)
    print(agreement)
    if not agreement.decided:
        print("CANNOT BE JUDGED: more turns, views of another size or a larger max_tokens may help")
        return FAILED
    enough = agreement.share >= args.threshold
    print(f"{'agrees' if enough else 'DOES NOT AGREE'}: {agreement.share:.3f}, threshold {args.threshold:g}")
    return 0 if enough else FAILED
