#!/usr/bin/env python3
"""How fast a view is cut out of a panorama, side by side with what else does it.

    python benchmarks/view.py --hstar DIR            DIR: a checkout of the published environment (humanoid-vstar/hstar)
    python benchmarks/view.py --panorama FILE        on your own picture instead of one that the script draws

Every contender renders the same random directions in turns within one run, several times each, and the fastest of a
direction's times counts, so that other work on the machine disturbs little and all alike; what matters is the ratio of
medians over the directions. The published renderer is taken out of the source in the checkout, without its imports.
``pip install py360convert pyequilib`` brings the others (pyequilib brings torch); what is not installed is
named and left out.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from hvs_ros.panorama import EVALUATION, TRAINING, Camera, Panorama, ViewSampler, open_panorama
from hvs_ros.panorama.tables import TableCache

Render = Callable[[float, float], Any]
SIZES = ((7680, 3840, EVALUATION), (4096, 2048, TRAINING))


@dataclass
class Contender:
    """Something that renders a direction, and how long it took each time.

    Attributes:
        name: its row in the table.
        render: called with yaw and pitch in degrees.
        before: called ahead of each render, not timed.
        every: takes part in every n-th round only (slow ones).
        against: which row of ours it is compared with.
        target: how many times faster ours must be; None where nothing is demanded.
    """

    name: str
    render: Render
    before: Render | None = None
    every: int = 1
    against: str = "warm"
    target: float | None = None
    seconds: list[float] = field(default_factory=list)

    @property
    def median_ms(self) -> float:
        """Median time of a view."""
        return 1e3 * statistics.median(self.seconds)


def draw_panorama(width: int, height: int) -> NDArray[np.uint8]:
    """Return a picture with the texture of a photograph: blobs of all sizes, edges and a little noise."""
    random = np.random.default_rng(360)
    picture = np.zeros((height, width, 3), np.float32)
    for cells in (8, 32, 128, 512):
        coarse = random.normal(0, 1, (cells // 2, cells, 3)).astype(np.float32)
        picture += cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC) * (160 / cells**0.5)
    picture += random.normal(128, 3, picture.shape).astype(np.float32)
    finished = np.clip(picture, 0, 255).astype(np.uint8)
    for _ in range(400):
        x, y = int(random.integers(width)), int(random.integers(height))
        size = int(random.integers(10, width // 40))
        colour = tuple(int(value) for value in random.integers(0, 256, 3))
        cv2.rectangle(finished, (x, y), (x + size, y + size // 2), colour, 2)
    return finished


def published_projection(checkout: Path) -> Callable[..., NDArray[np.uint8]]:
    """Return the published environment's ``_e2p(img, fov, yaw, pitch, roll, w, h)`` out of its source file."""
    source = checkout / "vagen" / "env" / "hstar" / "env.py"
    tree = ast.parse(source.read_text(encoding="utf-8"), str(source))
    methods = (
        item
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == "HstarEnv"
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.name == "_e2p"
    )
    method = next(methods, None)
    if method is None:
        raise SystemExit(f"{source}: no HstarEnv._e2p in it; is DIR a checkout of humanoid-vstar/hstar?")
    names: dict[str, Any] = {"cv2": cv2, "np": np, "math": math}
    exec(compile(ast.Module([method], []), str(source), "exec"), names)
    return lambda *arguments: names["_e2p"](None, *arguments)


def ours(panorama: Panorama, camera: Camera) -> list[Contender]:
    """Return our rows: with the pitch's table at hand, and without."""
    kept, none_kept = ViewSampler(panorama, camera, tables=TableCache()), TableCache(0)
    fresh = ViewSampler(panorama, camera, tables=none_kept)
    return [
        Contender("hvs_ros, pitch seen before", kept.render, before=kept.render),
        Contender("hvs_ros, new pitch", fresh.render, against="new"),
    ]


def published(checkout: Path, image: NDArray[np.uint8], png: Path, camera: Camera) -> list[Contender]:
    """Return the published environment's rows: its projection, and its render, which reads the PNG again."""
    project = published_projection(checkout)

    def projection(yaw: float, pitch: float) -> Any:
        return project(image, camera.hfov_deg, yaw, pitch, 0, camera.width, camera.height)

    def whole(yaw: float, pitch: float) -> Any:
        view = project(cv2.imread(str(png)), camera.hfov_deg, yaw, pitch, 0, camera.width, camera.height)
        return cv2.cvtColor(view, cv2.COLOR_BGR2RGB)

    return [
        Contender("published projection", projection, every=2, target=10),
        Contender("published render (reads PNG)", whole, every=8, target=50),
    ]


def py360convert(image: NDArray[np.uint8], camera: Camera) -> list[Contender]:
    """Return py360convert's rows: a direction that it has cached, and one that it has not."""
    import py360convert as library

    vertical = math.degrees(2 * math.atan(camera.height / camera.width * math.tan(math.radians(camera.hfov_deg / 2))))

    def render(yaw: float, pitch: float) -> Any:
        u = (yaw + 180.0) % 360.0 - 180.0
        return library.e2p(image, (camera.hfov_deg, vertical), u, pitch, (camera.height, camera.width))

    # Another hundred-thousandth of a degree is another entry in its cache.
    steps = itertools.count(1)

    def new_direction(yaw: float, pitch: float) -> Any:
        return render(yaw, pitch - math.copysign(1e-5 * next(steps), pitch))

    return [
        Contender("py360convert, direction seen before", render, before=render, every=2, target=4),
        Contender("py360convert, new direction", new_direction, every=2, against="new", target=20),
    ]


def pyequilib(image: NDArray[np.uint8], camera: Camera) -> list[Contender]:
    """Return pyequilib's rows, prepared once as its documentation advises."""
    import equilib
    import torch

    planes = np.ascontiguousarray(image.transpose(2, 0, 1))
    tensor = torch.from_numpy(planes.astype(np.float32))

    def prepared(picture: Any) -> Render:
        make = equilib.Equi2Pers(height=camera.height, width=camera.width, fov_x=camera.hfov_deg, mode="bilinear")
        return lambda yaw, pitch: make(picture, {"roll": 0.0, "pitch": math.radians(-pitch), "yaw": math.radians(-yaw)})

    return [
        Contender("pyequilib torch", prepared(tensor), every=2, target=12),
        Contender("pyequilib numpy", prepared(planes), every=4, target=35),
    ]


def contenders(arguments: argparse.Namespace, image: NDArray[np.uint8], png: Path, camera: Camera) -> list[Contender]:
    """Return everything that can run here, ours first."""
    rows = ours(open_panorama(png), camera)
    if arguments.hstar:
        rows += published(arguments.hstar, image, png, camera)
    else:
        print("published renderer: left out, name a checkout with --hstar DIR")
    for name, make in (("py360convert", py360convert), ("pyequilib", pyequilib)):
        try:
            rows += make(image, camera)
        except ImportError:
            print(f"{name}: not installed, left out (pip install {name})")
    view = np.empty((camera.height, camera.width, 3), np.uint8)
    rows.append(Contender("a copy of the view's bytes", lambda yaw, pitch: view.copy()))
    return rows


def measure(rows: list[Contender], rounds: int, repeats: int, seed: int) -> None:
    """Let every contender render the same random directions, all over the sphere, in turns."""
    random = np.random.default_rng(seed)
    for row in rows:
        row.render(0.0, 0.0)
    for number in range(rounds):
        yaw = float(random.uniform(0, 360))
        pitch = float(np.degrees(np.arcsin(random.uniform(-1, 1))))
        taking_part = [row for row in rows if number % row.every == 0]
        best = [math.inf] * len(taking_part)
        for _ in range(repeats):
            for index, row in enumerate(taking_part):
                if row.before is not None:
                    row.before(yaw, pitch)
                start = time.perf_counter()
                row.render(yaw, pitch)
                best[index] = min(best[index], time.perf_counter() - start)
        for row, seconds in zip(taking_part, best, strict=True):
            row.seconds.append(seconds)


def print_table(rows: list[Contender], title: str) -> bool:
    """Print medians and ratios; return whether every target is met."""
    warm, new = rows[0].median_ms, rows[1].median_ms
    print(f"\n{title}")
    print(f"{'':38}{'median':>10}{'ours x':>9}  {'target':<12}")
    met = True
    for row in rows:
        base, name = (new, "new") if row.against == "new" else (warm, "warm")
        verdict = ""
        if row.target is not None:
            reached = row.median_ms >= row.target * base
            verdict = f"{row.target:g} ({name}) {'met' if reached else 'MISSED'}"
            met = met and reached
        print(f"{row.name:38}{row.median_ms:8.1f}ms{row.median_ms / base:9.1f}  {verdict}")
    reached = new <= 2 * warm
    print(
        f"{'first view of a pitch / later ones':38}{'':10}{new / warm:9.2f}  at most 2 {'met' if reached else 'MISSED'}"
    )
    return met and reached


def time_decoding(image: NDArray[np.uint8], folder: Path) -> None:
    """Print how long the picture takes to open as a JPEG, beside OpenCV alone."""
    path = folder / "panorama.jpg"
    cv2.imwrite(str(path), image, [cv2.IMWRITE_JPEG_QUALITY, 92])
    readers: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("open_panorama", lambda: open_panorama(path)),
        ("cv2.imread", lambda: cv2.imread(str(path))),
    )
    for name, read in readers:
        seconds = []
        for _ in range(5):
            start = time.perf_counter()
            read()
            seconds.append(time.perf_counter() - start)
        print(f"{'JPEG with ' + name:38}{1e3 * statistics.median(seconds):8.1f}ms")


def main() -> int:
    """Measure both sizes and print a table of each."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("--hstar", type=Path, metavar="DIR", help="checkout of the published environment")
    parser.add_argument("--panorama", type=Path, metavar="FILE", help="picture to use, resized to both sizes")
    parser.add_argument("--rounds", type=int, default=40, help="random directions (default 40)")
    parser.add_argument("--repeats", type=int, default=3, help="of each direction (default 3)")
    parser.add_argument("--seed", type=int, default=0, help="of the directions (default 0)")
    arguments = parser.parse_args()
    print(f"OpenCV {cv2.__version__}, numpy {np.__version__}, {os.cpu_count()} cores, {arguments.rounds} directions")
    met = True
    for width, height, camera in SIZES:
        if arguments.panorama:
            image = cv2.resize(open_panorama(arguments.panorama).image, (width, height), interpolation=cv2.INTER_AREA)
        else:
            image = draw_panorama(width, height)
        with tempfile.TemporaryDirectory() as folder:
            png = Path(folder) / "panorama.png"
            cv2.imwrite(str(png), image)
            rows = contenders(arguments, image, png, camera)
            measure(rows, arguments.rounds, arguments.repeats, arguments.seed)
            met &= print_table(rows, f"{width}x{height} to {camera.width}x{camera.height}")
            time_decoding(image, Path(folder))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
