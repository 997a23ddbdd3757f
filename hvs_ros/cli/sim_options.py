"""What the options of ``hvs sim`` mean together with a parameter file: command line, else file, else default."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hvs_ros.angles import search_turn_deg
from hvs_ros.cli.error import BAD_INPUT, VerbError
from hvs_ros.cli.params_file import NodeValues, ParamsFile, chosen_scenes

SAMPLING = ("exact", "hstar")
MOTION = ("instant", "profile")

DEFAULT_POLICY = "signs"
DEFAULT_SIZE = (1920, 1080)
"""Of a view: the benchmark's evaluation camera, as the following."""
DEFAULT_HFOV_DEG = 100.0


def fill_in(args: argparse.Namespace) -> None:
    """Give each option that the user left out its value, and add what else the file says.

    Beside the options, ``args`` then has ``parameters``, the file as it stands, and what it says for two of the nodes,
    ``head_values`` and ``policy_values``.

    Raises:
        VerbError: the file cannot be read, or a value in it makes no sense or does not go with the options.
    """
    file = ParamsFile(args.params_file)
    if args.in_process and file.content:
        raise VerbError("--params-file is for the nodes of the ROS graph; --in-process has none", BAD_INPUT)
    head, policy = file.head(args.namespace), file.policy(args.namespace)
    args.parameters, args.head_values, args.policy_values = file.content, head, policy
    args.scenes = chosen_scenes(args, head)
    args.policy = args.policy or policy.text("policy") or DEFAULT_POLICY
    args.motion = args.motion or head.text("motion", MOTION) or "instant"
    args.sampling = args.sampling or head.text("sampling", SAMPLING) or "exact"
    args.supersample = args.supersample or head.number("supersample", 1, 4, whole=True) or 1
    calibration = head.text("calibration")
    if calibration is None:
        _fill_in_camera(args, head)
    else:
        _fill_in_calibrated(args, calibration)


def _fill_in_camera(args: argparse.Namespace, head: NodeValues) -> None:
    if args.size is None:
        given: list[Any] = [head.number(name, 16, 8192, whole=True) for name in ("width", "height")]
        args.size = tuple(value or default for value, default in zip(given, DEFAULT_SIZE, strict=True))
    if args.hfov is None:
        hfov_rad = head.number("hfov", 0.1, 3.0)
        args.hfov = DEFAULT_HFOV_DEG if hfov_rad is None else abs(search_turn_deg(hfov_rad))


def _fill_in_calibrated(args: argparse.Namespace, calibration: str) -> None:
    if args.size is not None or args.hfov is not None:
        raise VerbError(
            f"--params-file {args.params_file} sees with the calibration {calibration}: leave out --size and --hfov",
            BAD_INPUT,
        )
    from hvs_ros.panorama.calibration import CalibrationError, read_calibration
    from hvs_ros.share import user_path

    path: Path = user_path(calibration)
    try:
        camera = read_calibration(path)
    except CalibrationError as error:
        raise VerbError(f"--params-file {args.params_file}: calibration: {error}", BAD_INPUT) from error
    args.size, args.hfov = (camera.width, camera.height), camera.hfov_deg
