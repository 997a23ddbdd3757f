"""Plain float64 renderings that the sampler is tested against, written without looking at it."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

SHARED = Path(__file__).resolve().parents[3] / "shared"


def smooth_picture(width: int, height: int, seed: int = 0, blur: float = 2.0) -> NDArray[np.uint8]:
    """Return a picture without a seam: noise, blurred around the circle."""
    noise = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    tripled = cv2.GaussianBlur(np.hstack([noise] * 3), (0, 0), blur)
    stretched = (tripled[:, width : 2 * width].astype(float) - 128) * 3 + 128
    return np.clip(stretched, 0, 255).astype(np.uint8)


def directions(
    width: int, height: int, hfov_deg: float, yaw_deg: float, pitch_deg: float, roll_deg: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return yaw and pitch [deg] of every pixel's centre, by turning rays one axis after the other."""
    focal = width / 2 / np.tan(np.radians(hfov_deg / 2))
    x, y = np.meshgrid((np.arange(width) + 0.5 - width / 2) / focal, (np.arange(height) + 0.5 - height / 2) / focal)
    forward, right, up = np.ones_like(x), x, -y
    r, p, w = np.radians((roll_deg, pitch_deg, yaw_deg))
    right, up = right * np.cos(r) + up * np.sin(r), up * np.cos(r) - right * np.sin(r)
    forward, up = forward * np.cos(p) - up * np.sin(p), up * np.cos(p) + forward * np.sin(p)
    forward, right = forward * np.cos(w) - right * np.sin(w), right * np.cos(w) + forward * np.sin(w)
    return np.degrees(np.arctan2(right, forward)), np.degrees(np.arctan2(up, np.hypot(forward, right)))


def bilinear(
    picture: NDArray[np.uint8], yaw_deg: NDArray[np.float64], pitch_deg: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return float64 grey levels of directions; beyond a pole the picture continues on the opposite meridian."""
    height, width = picture.shape[:2]
    column, row = (yaw_deg / 360 + 0.5) * width - 0.5, (0.5 - pitch_deg / 180) * height - 0.5
    left, top = np.floor(column).astype(int), np.floor(row).astype(int)
    across, down = (column - left)[..., None], (row - top)[..., None]

    def pixel(rows: NDArray[np.int_], columns: NDArray[np.int_]) -> NDArray[np.float64]:
        beyond = (rows < 0) | (rows >= height)
        columns = np.where(beyond, columns + width // 2, columns) % width
        rows = np.where(rows < 0, -1 - rows, np.where(rows >= height, 2 * height - 1 - rows, rows))
        return picture[rows, columns].astype(float)

    upper = pixel(top, left) * (1 - across) + pixel(top, left + 1) * across
    lower = pixel(top + 1, left) * (1 - across) + pixel(top + 1, left + 1) * across
    return upper * (1 - down) + lower * down


def angle_deg(
    yaw_a: NDArray[np.float64], pitch_a: NDArray[np.float64], yaw_b: NDArray[np.float64], pitch_b: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the angle between directions [deg], exact for small ones."""
    a, b, d = np.radians(pitch_a), np.radians(pitch_b), np.radians(yaw_a - yaw_b) / 2
    h = np.sin((a - b) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin(d) ** 2
    return np.degrees(2 * np.arcsin(np.sqrt(np.clip(h, 0, 1))))
