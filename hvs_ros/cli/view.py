"""``hvs view``: cuts one view out of a panorama, as a head would see it."""

from __future__ import annotations

import argparse

from hvs_ros.cli.arguments import number, path, size
from hvs_ros.cli.error import BAD_INPUT, VerbError

NAME = "view"
HELP = "cut one view out of a panorama and write it to a file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("panorama", type=path, help="a panorama, or a scene folder with one")
    parser.add_argument("output", type=path, help="picture to write, e.g. view.png")
    parser.add_argument("--yaw", type=number(-3600, 3600), default=0.0, metavar="DEG", help="to the right (default 0)")
    parser.add_argument("--pitch", type=number(-90, 90), default=0.0, metavar="DEG", help="up (default 0)")
    parser.add_argument("--roll", type=number(-180, 180), default=0.0, metavar="DEG", help="right side down (0)")
    parser.add_argument("--hfov", type=number(1, 179), default=100.0, metavar="DEG", help="field of view (default 100)")
    parser.add_argument("--size", type=size, default=(1920, 1080), metavar="WxH", help="in pixels (default 1920x1080)")
    parser.add_argument("--sampling", choices=("exact", "hstar"), default="exact", help="default exact")
    parser.add_argument("--supersample", type=int, choices=(1, 2, 3, 4), default=1, help="against moire (default 1)")
    parser.add_argument("--cross", action="store_true", help="draw the green cross that a policy is given")


def run(args: argparse.Namespace) -> int:
    """Cut the view out and write it."""
    import cv2

    from hvs_ros.panorama import Camera, PictureError, ViewSampler, draw_cross, open_panorama
    from hvs_ros.panorama.scene import SceneError, load_scene

    width, height = args.size
    try:
        scene = load_scene(args.panorama)
        tilt = scene.tilt
        panorama = open_panorama(scene.panorama_path, roll_deg=tilt.roll_deg, pitch_deg=tilt.pitch_deg)
        sampler = ViewSampler(
            panorama, Camera(width, height, args.hfov), sampling=args.sampling, supersample=args.supersample
        )
    except (SceneError, PictureError, ValueError) as error:
        raise VerbError(str(error), BAD_INPUT) from error
    view = sampler.render(args.yaw, args.pitch, args.roll)
    try:
        written = cv2.imwrite(str(args.output), draw_cross(view) if args.cross else view)
    except cv2.error as error:
        raise VerbError(f"{args.output}: a name like view.png or view.jpg is expected", BAD_INPUT) from error
    if not written:
        raise VerbError(f"{args.output} cannot be written: is its folder there?")
    print(f"{args.output}: {width}x{height}, {scene.name} at yaw {args.yaw:g}, pitch {args.pitch:g} degrees")
    return 0
