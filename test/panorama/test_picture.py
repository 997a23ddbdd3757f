from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from panorama_reference import smooth_picture

from hvs_ros.panorama import Panorama, PictureError, decode, open_panorama
from hvs_ros.panorama.picture import UNKNOWN_GREY

PICTURE = smooth_picture(256, 128)
LOSSLESS = {".png": [], ".tif": [], ".webp": [cv2.IMWRITE_WEBP_QUALITY, 101]}


def write(path: Path, image: np.ndarray, options: list[int] | None = None) -> Path:
    encoded = cv2.imencode(path.suffix, image, LOSSLESS.get(path.suffix, []) if options is None else options)[1]
    path.write_bytes(encoded.tobytes())
    return path


def xmp_packet(**properties: object) -> bytes:
    attributes = " ".join(f'GPano:{name}="{value}"' for name, value in properties.items())
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""'
        f' xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" {attributes}/></rdf:RDF></x:xmpmeta>'
        '<?xpacket end="w"?>'
    ).encode()


def crop_of(left: int, top: int, width: int, height: int, full: int = 256, **more: object) -> bytes:
    return xmp_packet(
        FullPanoWidthPixels=full,
        FullPanoHeightPixels=full // 2,
        CroppedAreaLeftPixels=left,
        CroppedAreaTopPixels=top,
        CroppedAreaImageWidthPixels=width,
        CroppedAreaImageHeightPixels=height,
        **more,
    )


def jpeg_segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def png_chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def with_xmp(path: Path, packet: bytes) -> Path:
    """Put an XMP packet where the file's format keeps it."""
    data = path.read_bytes()
    if path.suffix == ".jpg":
        data = data[:2] + jpeg_segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + packet) + data[2:]
    elif path.suffix == ".png":
        data = data[:33] + png_chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + packet) + data[33:]
    else:
        height, width = cv2.imread(str(path)).shape[:2]
        extended = (
            b"VP8X" + struct.pack("<II", 10, 4) + b"".join(n.to_bytes(3, "little") for n in (width - 1, height - 1))
        )
        body = extended + data[12:] + b"XMP " + struct.pack("<I", len(packet)) + packet + b"\0" * (len(packet) % 2)
        data = b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body
    path.write_bytes(data)
    return path


def plain_tiff(image: np.ndarray, xmp: bytes = b"") -> bytes:
    """Return a TIFF whose directory stands first, as most programs but OpenCV write it."""
    height, width = image.shape[:2]
    entries = [(256, 4, width), (257, 4, height), (258, 3, 8), (259, 3, 1), (262, 3, 1), (277, 3, 1)]
    start = 8 + 2 + 12 * (len(entries) + 3 + bool(xmp)) + 4
    entries += [(273, 4, start + len(xmp)), (278, 4, height), (279, 4, image.size)]
    directory = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in entries)
    if xmp:
        directory += struct.pack("<HHII", 700, 1, len(xmp), start)
    head = b"II*\0" + struct.pack("<IH", 8, len(entries) + bool(xmp))
    return head + directory + struct.pack("<I", 0) + xmp + image.tobytes()


@pytest.fixture(params=["simplejpeg", "OpenCV"])
def jpeg_decoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to decode a JPEG."""
    if request.param == "OpenCV":
        monkeypatch.setattr(decode, "_turbo", None)
    else:
        pytest.importorskip("simplejpeg")


@pytest.mark.parametrize("suffix", LOSSLESS)
def test_lossless_formats_come_out_as_they_went_in(tmp_path: Path, suffix: str) -> None:
    grey, alpha = PICTURE[..., 0], np.dstack([PICTURE, np.full((128, 256), 200, np.uint8)])
    assert (open_panorama(write(tmp_path / f"c{suffix}", PICTURE)).image == PICTURE).all()
    assert (open_panorama(write(tmp_path / f"g{suffix}", grey)).image == grey[..., None]).all()
    # WebP stores no exact colours where alpha is involved.
    difference = np.abs(open_panorama(write(tmp_path / f"a{suffix}", alpha)).image.astype(int) - PICTURE)
    assert difference.max() <= (3 if suffix == ".webp" else 0)


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_sixteen_bits_are_rounded_to_eight(tmp_path: Path, suffix: str) -> None:
    deep = np.random.default_rng(0).integers(0, 65536, (128, 256, 3), np.uint16)
    for image in (deep, deep[..., 0], np.dstack([deep, deep[..., 0]])):
        opened = open_panorama(write(tmp_path / f"p{suffix}", image)).image
        expected = np.rint((image if image.ndim == 3 else image[..., None])[..., :3] / 257.0)
        assert opened.dtype == np.uint8
        assert np.abs(opened - expected).max() <= 0.5 + 1e-9


def test_jpeg_is_decoded_as_opencv_does(tmp_path: Path, jpeg_decoder: None) -> None:
    for image in (PICTURE, PICTURE[..., 0]):
        for options in ([], [cv2.IMWRITE_JPEG_PROGRESSIVE, 1]):
            path = write(tmp_path / "p.jpg", image, options)
            assert np.abs(open_panorama(path).image.astype(int) - cv2.imread(str(path))).max() <= 1


def test_cmyk_jpeg(tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    pillow.fromarray(PICTURE[..., ::-1]).convert("CMYK").save(tmp_path / "p.jpg", quality=95)
    assert np.abs(open_panorama(tmp_path / "p.jpg").image.astype(int) - PICTURE).mean() < 5


def test_exif_orientation_is_applied(tmp_path: Path, jpeg_decoder: None) -> None:
    upright = write(tmp_path / "p.jpg", PICTURE).read_bytes()
    for orientation in range(1, 9):
        stored = PICTURE if orientation < 5 else np.ascontiguousarray(PICTURE.transpose(1, 0, 2))
        path = write(tmp_path / "p.jpg", stored)
        data = path.read_bytes()
        exif = b"Exif\0\0MM\0*\0\0\0\x08" + struct.pack(">HHHIHHI", 1, 274, 3, 1, orientation, 0, 0)
        path.write_bytes(data[:2] + jpeg_segment(0xE1, exif) + data[2:])
        panorama = open_panorama(path)
        assert panorama.image.shape == PICTURE.shape
        assert np.abs(panorama.image.astype(int) - cv2.imread(str(path))).max() <= 1
    assert upright


def test_panorama_is_read_only_and_continues_beyond_the_poles(tmp_path: Path) -> None:
    panorama = open_panorama(write(tmp_path / "p.png", PICTURE))
    assert not panorama.image.flags.writeable and not panorama.padded.flags.writeable
    assert (panorama.padded[0, :, :3] == np.roll(PICTURE[0], 128, axis=0)).all()
    assert (panorama.padded[-1, :, :3] == np.roll(PICTURE[-1], 128, axis=0)).all()
    assert panorama.path == tmp_path / "p.png" and panorama.crop is None and panorama.heading_deg == 0


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp", ".tif"])
def test_gpano_crop_and_heading(tmp_path: Path, suffix: str) -> None:
    part = np.ascontiguousarray(PICTURE[30:90, 40:160])
    packet = crop_of(40, 30, 120, 60, InitialViewHeadingDegrees=20, PoseHeadingDegrees=350)
    if suffix == ".tif":
        path = tmp_path / "p.tif"
        path.write_bytes(plain_tiff(part[..., 0], packet))
        part = np.repeat(part[..., :1], 3, axis=2)
    else:
        path = with_xmp(write(tmp_path / f"p{suffix}", part), packet)
        part = cv2.imread(str(path))
    panorama = open_panorama(path)
    assert panorama.image.shape == (128, 256, 3)
    assert np.abs(panorama.image[30:90, 40:160].astype(int) - part).mean() < 3
    outside = panorama.image.copy()
    outside[30:90, 40:160] = UNKNOWN_GREY
    assert (outside == UNKNOWN_GREY).all()
    assert panorama.crop is not None and (panorama.crop.left, panorama.crop.top) == (40, 30)
    assert panorama.heading_deg == pytest.approx(30)


def test_gpano_of_a_picture_that_was_resized_afterwards(tmp_path: Path) -> None:
    part = cv2.resize(np.ascontiguousarray(PICTURE[30:90, 40:160]), (60, 30))
    panorama = open_panorama(with_xmp(write(tmp_path / "p.png", part), crop_of(40, 30, 120, 60)))
    assert panorama.image.shape == (64, 128, 3)
    assert (panorama.image[15:45, 20:80] == part).all()


def test_gpano_as_elements_and_without_a_crop(tmp_path: Path) -> None:
    packet = xmp_packet().replace(
        b"/></rdf:RDF>",
        b"><GPano:InitialViewHeadingDegrees> 90.5 </GPano:InitialViewHeadingDegrees></rdf:Description></rdf:RDF>",
    )
    assert open_panorama(with_xmp(write(tmp_path / "p.png", PICTURE), packet)).heading_deg == 90.5


def test_malformed_gpano_does_not_cost_a_whole_panorama(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    packet = crop_of(0, 0, 256, 128)[:-60]
    assert open_panorama(with_xmp(write(tmp_path / "p.png", PICTURE), packet)).crop is None
    assert "GPano data ignored" in caplog.text


@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        (crop_of(200, 30, 110, 60), "does not lie within"),
        (crop_of(0, 0, 60, 120), "describe 60x120"),
        (crop_of(0, 0, 110, 60, full=40000), "at most 16384x8192"),
        (xmp_packet(ProjectionType="cylindrical"), "cylindrical"),
        (crop_of(0, 0, 120, "x"), "not a number"),  # type: ignore[arg-type]
        (crop_of(40, 30, 120, 60)[:-60], "not well-formed"),
        (b'<!DOCTYPE x [<!ENTITY a "b">]>' + crop_of(40, 30, 120, 60), "entities"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_contradictory_gpano_is_refused(tmp_path: Path, packet: bytes, reason: str) -> None:
    part = np.ascontiguousarray(PICTURE[30:90, 40:150])
    path = with_xmp(write(tmp_path / "p.png", part), packet)
    with pytest.raises(PictureError, match=reason):
        open_panorama(path)


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif", ".webp"])
@pytest.mark.parametrize("kept", [0.02, 0.5, 0.97])
def test_truncated_pictures_are_refused(tmp_path: Path, suffix: str, kept: float, jpeg_decoder: None) -> None:
    path = write(tmp_path / f"p{suffix}", PICTURE)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(PictureError, match=r"truncated") as caught:
        open_panorama(path)
    assert str(path) in str(caught.value)


def test_a_truncated_tiff_with_its_directory_first_is_refused(tmp_path: Path) -> None:
    whole = plain_tiff(PICTURE[..., 0])
    path = tmp_path / "p.tif"
    path.write_bytes(whole)
    assert (open_panorama(path).image == PICTURE[..., :1]).all()
    path.write_bytes(whole[:-100])
    with pytest.raises(PictureError, match="truncated"):
        open_panorama(path)


def test_a_truncated_progressive_jpeg_is_refused(tmp_path: Path, jpeg_decoder: None) -> None:
    path = write(tmp_path / "p.jpg", PICTURE, [cv2.IMWRITE_JPEG_PROGRESSIVE, 1])
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(PictureError, match="truncated"):
        open_panorama(path)


def test_what_cameras_append_to_a_jpeg_is_harmless(tmp_path: Path, jpeg_decoder: None) -> None:
    path = write(tmp_path / "p.jpg", PICTURE)
    data, expected = path.read_bytes(), cv2.imread(str(path)).astype(int)
    for variant in (data + b"trailer" * 50, data[:-2] + bytes(16) + data[-2:]):
        path.write_bytes(variant)
        assert np.abs(open_panorama(path).image - expected).max() <= 1


def test_damage_in_the_middle_is_refused_where_it_can_be_seen(tmp_path: Path) -> None:
    path = write(tmp_path / "p.png", PICTURE)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    with pytest.raises(PictureError, match="checksum"):
        open_panorama(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"hello, world", "not an image"),
        (b"GIF89a" + bytes(50), "GIF"),
        (b"\0\0\0\x20ftypheic" + bytes(50), "HEIC"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"RIFF\x04\0\0\0WAVE", "not WebP"),
        (b"\xff\xd8\xff", "truncated"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "truncated"),
        (b"\x89PNG\r\n\x1a\n", "truncated"),
        (b"II*\0\x08\0\0\0", "truncated"),
    ],
)
def test_what_is_no_picture_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "p.jpg"
    path.write_bytes(content)
    with pytest.raises(PictureError, match=reason):
        open_panorama(path)


@pytest.mark.parametrize(("width", "height"), [(60000, 30000), (16386, 8193), (2**31 - 1, 2**30 - 1)])
def test_absurd_sizes_are_refused_before_decoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, height: int
) -> None:
    monkeypatch.setattr("hvs_ros.panorama.picture.decode", lambda *_: pytest.fail("decoded"))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path = tmp_path / "p.png"
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", b"") + png_chunk(b"IEND", b"")
    )
    with pytest.raises(PictureError, match="at most 16384x8192"):
        open_panorama(path)


@pytest.mark.parametrize("size", [(256, 126), (256, 130), (128, 128), (4, 2)])
def test_pictures_that_are_not_two_to_one_are_refused(tmp_path: Path, size: tuple[int, int]) -> None:
    path = write(tmp_path / "p.png", np.zeros((size[1], size[0], 3), np.uint8))
    with pytest.raises(PictureError, match=r"not 2:1|at least"):
        open_panorama(path)


def test_the_aspect_may_be_a_percent_off(tmp_path: Path) -> None:
    assert open_panorama(write(tmp_path / "p.png", np.zeros((127, 256, 3), np.uint8))).image.shape == (127, 256, 3)


def test_floating_point_pictures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PictureError, match=r"floating point|float32"):
        open_panorama(write(tmp_path / "p.tif", np.zeros((128, 256, 3), np.float32)))


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    for path, reason in (
        (tmp_path, "not a file"),
        (tmp_path / "pipe.jpg", "not a file"),
        (tmp_path / "no.jpg", "No such"),
    ):
        with pytest.raises(PictureError, match=reason):
            open_panorama(path)


def test_tilt_is_kept_and_must_be_finite(tmp_path: Path) -> None:
    path = write(tmp_path / "p.png", PICTURE)
    offset = open_panorama(path, roll_deg=3, pitch_deg=-2).offset
    assert (offset.roll_deg, offset.pitch_deg) == (3, -2)
    with pytest.raises(ValueError, match="not finite"):
        open_panorama(path, roll_deg=float("nan"))


def test_panoramas_from_memory() -> None:
    odd = smooth_picture(255, 128)
    panorama = Panorama.from_array(odd, roll_deg=1.0)
    assert (panorama.image == odd).all() and panorama.offset.roll_deg == 1
    for wrong in (odd[..., 0], odd.astype(np.uint16), odd[:, :100]):
        with pytest.raises(ValueError, match=r"panorama|2:1"):
            Panorama.from_array(wrong)
