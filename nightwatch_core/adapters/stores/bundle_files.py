"""Bundles: a night sealed in one file, which may leave the machine and be replayed elsewhere.

The first line names it, packed lines of text follow.
"""

import lzma
import re
from pathlib import Path

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import GiveUp
from nightwatch_core.journal.pieces import name_of
from nightwatch_core.journal.sealing import SCHEMA, opened
from nightwatch_core.models.journal import Bundle

MAGIC = "NIGHTWATCH BUNDLE"
BUNDLE_PACKED = 64 * 2**20  # bytes of a bundle that are read
BUNDLE_TEXT = 256 * 2**20  # bytes that it may unpack to
LEVEL = 3  # of lzma: a tenth larger than its best, in a fifth of the time
MEMORY = 128 * 2**20  # bytes that unpacking may take
_HEAD = re.compile(rf"{MAGIC} (\d{{1,6}}) ([0-9a-f]{{64}})\n".encode())


def write_bundle(path: Path, lines: list[str]) -> None:
    """Write a sealed night, for the owner only; raises `GiveUp`."""
    packed = lzma.compress("\n".join(lines).encode("ascii"), preset=LEVEL)
    try:
        atomic_files.write(path, f"{MAGIC} {SCHEMA} {name_of(lines[0])}\n".encode() + packed)
    except OSError as error:
        raise GiveUp(f"{path} cannot be written: {error.strerror}") from error


def read_bundle(path: Path) -> Bundle:
    """Read and verify a bundle, whoever made it; raises `GiveUp` saying what is wrong with it."""
    try:
        with path.open("rb") as file:
            packed = file.read(BUNDLE_PACKED + 1)
    except OSError as error:
        raise GiveUp(f"{path} cannot be read: {error.strerror}") from error
    head = _HEAD.match(packed[:200])
    if head is None:
        raise GiveUp(f"{path} is no bundle of a night")
    if int(head[1]) > SCHEMA:
        raise GiveUp(
            f"{path} is of a newer NightWatch (its schema is {int(head[1])}, this one reads up to "
            f"{SCHEMA}): read it with that one"
        )
    if len(packed) > BUNDLE_PACKED:
        raise GiveUp(f"{path} is larger than {BUNDLE_PACKED:,} bytes: it is not ours")
    text = _unpacked(packed[head.end() :], path)
    return opened(head[2].decode(), text.split("\n"), len(packed))


def _unpacked(packed: bytes, path: Path) -> str:
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY)
    try:
        text = unpacker.decompress(packed, BUNDLE_TEXT)
    except (lzma.LZMAError, EOFError):
        raise GiveUp(f"{path} was cut or changed: it cannot be unpacked") from None
    if not unpacker.eof:
        more = "is larger than any night" if len(text) >= BUNDLE_TEXT else "was cut"
        raise GiveUp(f"{path} {more}: it cannot be unpacked")
    if unpacker.unused_data:
        raise GiveUp(f"{path} was changed: something follows its end")
    return text.decode("ascii", "replace")
