"""Transcripts in the state folder: `transcripts/<night>/<fingerprint>.jsonl`, for the owner only.

Lines are added as things are said, so that a night that dies leaves what it heard. Secrets are
taken out before anything is written. A disk that is full costs the transcript, never the analysis.
"""

import hashlib
import json
import logging
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import ValidationError

from nightwatch_core.adapters.stores.limits import (
    ARGUMENT_LEVELS,
    HEAD_CHARACTERS,
    TAIL_CHARACTERS,
    TRANSCRIPT_BYTES,
)
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.conversation import Transcript, TranscriptEntry
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.scrubber import REMOVAL

LONGEST = 400_000  # characters of a text that are looked at; the rest is dropped
_PLAIN = re.compile(r"v\d{1,3}:[0-9a-f]{1,64}")
_OPEN = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
_log = logging.getLogger(__name__)


class Transcripts:
    """Keeps transcripts below `folder`, and finds them again."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        most: int = TRANSCRIPT_BYTES,
        scrub: Callable[[str], str] = REMOVAL.scrub,
    ) -> None:
        """Nothing is touched before it is needed; no file is larger than `most` bytes."""
        self._folder, self._clock, self._most, self._scrub = folder, clock, most, scrub
        self._closed: set[Path] = set()  # full, or where writing failed

    def keep(self, night: str, fingerprint: str, entry: TranscriptEntry) -> None:
        """Add one line; what cannot be written is logged once and left out."""
        file = self._folder / _name(night) / f"{_name(fingerprint)}.jsonl"
        if file in self._closed:
            return
        try:
            self._append(file, entry.model_copy(update={"at": self._clock.now()}))
        except OSError as trouble:
            self._closed.add(file)
            _log.warning("the transcript %s cannot be written: %s", file, trouble.strerror)

    def find(self, wanted: str, night: str = "") -> Transcript:
        """The newest transcript of the error called `wanted`, or beginning so.

        Raises `StopTheNight` saying what there is where none, or more than one error, is meant.
        """
        matches = [
            (file, kept)
            for file in self._newest_first(wanted)
            if (kept := _read(file)) and _is_meant(kept.fingerprint, wanted)
        ]
        names = sorted({kept.fingerprint for _, kept in matches})
        if len(names) > 1:
            several = ", ".join(names[:5])
            raise StopTheNight(f"{wanted[:80]!r} may be {several}: say more of the fingerprint")
        meant = [kept for file, kept in matches if night in ("", kept.night, file.parent.name)]
        if meant:
            return meant[0]
        if matches:
            nights = ", ".join(kept.night for _, kept in matches[:5])
            raise StopTheNight(f"no transcript of {names[0]} was kept in that night: see {nights}")
        raise StopTheNight(
            f"no transcript of {wanted[:80]!r} was kept: reports name the fingerprints, see "
            "`nightwatch report`"
        )

    def _append(self, file: Path, entry: TranscriptEntry) -> None:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(file, _OPEN, 0o600)
        try:
            os.fchmod(handle, 0o600)
            line = self._line(entry)
            if os.fstat(handle).st_size + len(line) > self._most:
                self._closed.add(file)
                line = self._line(TranscriptEntry(kind="full", at=entry.at))
            os.write(handle, line)
        finally:
            os.close(handle)

    def _line(self, entry: TranscriptEntry) -> bytes:
        """One line of plain ASCII."""
        values = self._clean(entry.model_dump(mode="json", exclude_defaults=True), ARGUMENT_LEVELS)
        return json.dumps(values).encode() + b"\n"

    def _clean(self, value: object, deep: int) -> object:
        """Without secrets, and bounded."""
        if isinstance(value, str):
            return self._kept(value)
        if deep and isinstance(value, dict):
            return {
                self._kept(str(name)): self._clean(one, deep - 1) for name, one in value.items()
            }
        if deep and isinstance(value, list):
            return [self._clean(one, deep - 1) for one in value]
        return "…" if isinstance(value, dict | list) else value

    def _kept(self, text: str) -> str:
        """A text without secrets and half characters, which no reader takes; its middle may go."""
        text = self._scrub(text[:LONGEST]).encode("utf-8", "replace").decode()
        left = len(text) - HEAD_CHARACTERS - TAIL_CHARACTERS
        return (
            f"{text[:HEAD_CHARACTERS]}\n[… {left} characters left out …]\n{text[-TAIL_CHARACTERS:]}"
            if left > 0
            else text
        )

    def _newest_first(self, wanted: str) -> Iterator[Path]:
        start = _plain(wanted)
        files = [
            file
            for file in self._folder.glob("*/*.jsonl")
            if file.name.startswith(start) or file.name.partition("-")[2].startswith(start)
        ]
        yield from sorted(files, key=_changed, reverse=True)


def _changed(file: Path) -> tuple[int, str]:
    try:
        return (file.stat().st_mtime_ns, str(file))
    except OSError:  # gone meanwhile
        return (0, str(file))


def _read(file: Path) -> Transcript | None:
    """What the last run that began in this file said; None where there is nothing to read."""
    try:
        lines = file.read_bytes()[: TRANSCRIPT_BYTES + 1_000].splitlines()
    except OSError:
        return None
    entries, unread = list[TranscriptEntry](), 0
    for line in lines:
        try:
            entry = TranscriptEntry.model_validate_json(line)
        except ValidationError:
            unread += 1
            continue
        if entry.opening and entry.opening.look == 1:
            entries, unread = [], 0
        entries.append(entry)
    begun = next((entry.opening for entry in entries if entry.opening), None)
    if begun is None:
        return None
    return Transcript(
        night=begun.night, fingerprint=begun.fingerprint, entries=tuple(entries), unread=unread
    )


def _is_meant(fingerprint: str, wanted: str) -> bool:
    return fingerprint.startswith(wanted) or fingerprint.partition(":")[2].startswith(wanted)


def _plain(name: str) -> str:
    """A name as files have it; the beginning of a name gives the beginning of its file's.

    >>> _plain("v1:7c2f"), _plain("../../etc")
    ('v1-7c2f', '-.-..-etc')
    """
    safe = re.sub(r"[^A-Za-z0-9._-]", "-", name[:80])
    return re.sub(r"^\.", "-", safe)


def _name(name: str) -> str:
    """A file's name of its own for every name.

    >>> _name("v1:7c2f"), _name("a/b")
    ('v1-7c2f', 'a-b-c14cddc0')
    """
    safe = _plain(name)
    if (safe and safe == name) or _PLAIN.fullmatch(name):
        return safe
    return f"{safe}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
