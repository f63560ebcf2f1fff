"""XXH64, for the short texts that keys of statistics are made of."""

from __future__ import annotations

_P1, _P2, _P3, _P4, _P5 = (
    11400714785074694791,
    14029467366897019727,
    1609587929392839161,
    9650029242287828579,
    2870177450012600261,
)
_MASK = (1 << 64) - 1


def xxh64(data: bytes, seed: int = 0) -> int:
    """The hash of `data`, of 64 bits, as the algorithm's specification has it."""
    position = 0
    if len(data) >= 32:
        lanes = [seed + _P1 + _P2, seed + _P2, seed, seed - _P1]
        while position + 32 <= len(data):
            for lane in range(4):
                lanes[lane] = _round(lanes[lane], _number(data, position + 8 * lane, 8))
            position += 32
        turns = zip(lanes, (1, 7, 12, 18), strict=True)
        value = sum(_turn(lane, turn) for lane, turn in turns) & _MASK
        for lane_value in lanes:
            value = ((value ^ _round(0, lane_value)) * _P1 + _P4) & _MASK
    else:
        value = (seed + _P5) & _MASK
    value = (value + len(data)) & _MASK
    return _mixed(_rest(value, data, position))


def _rest(value: int, data: bytes, position: int) -> int:
    """`value` with the last bytes of `data`, fewer than 32, put in."""
    while position + 8 <= len(data):
        value = _turn(value ^ _round(0, _number(data, position, 8)), 27) * _P1 + _P4
        position += 8
    if position + 4 <= len(data):
        value = _turn(value ^ _number(data, position, 4) * _P1, 23) * _P2 + _P3
        position += 4
    for byte in data[position:]:
        value = _turn(value ^ byte * _P5, 11) * _P1
    return value & _MASK


def _mixed(value: int) -> int:
    value = (value ^ value >> 33) * _P2 & _MASK
    value = (value ^ value >> 29) * _P3 & _MASK
    return value ^ value >> 32


def _round(lane: int, number: int) -> int:
    return _turn(lane + number * _P2, 31) * _P1 & _MASK


def _turn(value: int, bits: int) -> int:
    value &= _MASK
    return (value << bits | value >> 64 - bits) & _MASK


def _number(data: bytes, position: int, size: int) -> int:
    return int.from_bytes(data[position : position + size], "little")
