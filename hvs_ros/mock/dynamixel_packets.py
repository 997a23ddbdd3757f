"""Packets of the DYNAMIXEL Protocol 2.0, as its manual describes them.

``FF FF FD 00 ID LENGTH(2) INSTRUCTION PARAMETERS... CRC(2)``, numbers little-endian; LENGTH counts what follows it.
Where FF FF FD occurs after LENGTH, another FD is put behind it, so that it cannot be taken for a header. The CRC is
CRC-16 with the polynomial x^16 + x^15 + x^2 + 1 (0x8005), from 0, most significant bit first, over all that precedes.
"""

from __future__ import annotations

from dataclasses import dataclass

HEADER = b"\xff\xff\xfd\x00"
STATUS = 0x55
BROADCAST = 0xFE
_MARK = b"\xff\xff\xfd"
_SHORTEST = 10
"""Header, ID, LENGTH, an instruction and the CRC."""


@dataclass(frozen=True)
class Packet:
    """An instruction to servos, or a status from one (its first parameter is then the error)."""

    servo: int
    instruction: int
    parameters: bytes = b""


def _remainder(byte: int) -> int:
    crc = byte << 8
    for _ in range(8):
        crc = (crc << 1) ^ (0x8005 if crc & 0x8000 else 0)
    return crc & 0xFFFF


_REMAINDERS = tuple(map(_remainder, range(256)))


def crc16(data: bytes) -> int:
    """Return the checksum of the bytes."""
    crc = 0
    for byte in data:
        crc = (crc << 8 & 0xFF00) ^ _REMAINDERS[crc >> 8 ^ byte]
    return crc


def encode(packet: Packet) -> bytes:
    """Return the packet as bytes."""
    body = bytes([packet.instruction]) + packet.parameters
    body = body.replace(_MARK, _MARK + b"\xfd")
    head = HEADER + bytes([packet.servo]) + (len(body) + 2).to_bytes(2, "little")
    return head + body + crc16(head + body).to_bytes(2, "little")


def decode(stream: bytearray) -> Packet | None:
    """Take the first whole packet off the stream; None: there is none yet. Noise and damaged packets are dropped."""
    while True:
        start = stream.find(HEADER)
        if start < 0:
            # Its end may be the beginning of a header.
            del stream[: max(0, len(stream) - len(HEADER) + 1)]
            return None
        del stream[:start]
        if len(stream) < _SHORTEST:
            return None
        end = 7 + int.from_bytes(stream[5:7], "little")
        if end < _SHORTEST:
            del stream[: len(HEADER)]
            continue
        if len(stream) < end:
            return None
        whole = bytes(stream[:end])
        if crc16(whole[:-2]) != int.from_bytes(whole[-2:], "little"):
            del stream[: len(HEADER)]
            continue
        del stream[:end]
        body = whole[7:-2].replace(_MARK + b"\xfd", _MARK)
        return Packet(whole[4], body[0], body[1:])
