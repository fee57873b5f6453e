"""Changes that let nobody hear of a failure: levels, reports, ignore lists, warnings."""

import re
from collections.abc import Iterator

from nightwatch_core.code.band_aids.substance import has_substance
from nightwatch_core.code.band_aids.values import BandAid, Change
from nightwatch_core.code.band_aids.vocabulary import (
    COMMENT,
    IGNORING,
    IMPORT,
    LEVEL,
    LEVELS,
    REPORTS,
    WARNINGS_OFF,
)

_SAME = {"information": "info", "warn": "warning", "exception": "error", "fatal": "critical"}
_SAME |= {"emerg": "critical", "alert": "critical"}
_LOGGING = re.compile(r"(?i)log|console|level|slog|error_reporting|severity")
_NAMED_ERROR = re.compile(
    r"\w*(?:Error|Exception|Failure|Timeout|NotFound|Invalid|Refused|Reset)\b"
    r"|['\"][^'\"]{3,}['\"]|/[^/]{3,}/"
)
_DROPPED = re.compile(r"(?:return|next)\s+(?:None|nil|null|false|False)\s*;?$")
_FILTER = re.compile(  # what decides which failures are reported
    r"(?i)before_?send\b|reportable\(|should_?report|ignore_?error|before_?notify|\bdont_?report"
)
_GROWING = re.compile(
    rf"(?i)^[\w.@$:\"'-]*(?:{IGNORING.pattern.removeprefix('(?i)')})\w*[\"']?\)?\s*"
    r"(?:\+=|\|=|<<|=>|[:=](?!=)|\.(?:append|add|push|concat|extend|update)\(|\()"
)


def lowered_log_level(change: Change) -> Iterator[BandAid]:
    """Find lines of log whose level fell, where the change does nothing else."""
    old = [_level(line) for line in change.removed.values() if _LOGGING.search(line)]
    new = {row: _level(line) for row, line in change.added.items() if _LOGGING.search(line)}
    row = next((row for row in new if new[row]), -1)
    is_lower = old and row >= 0 and sum(new.values()) < sum(old) and len(new) >= len(old)
    if is_lower and not has_substance(change, [one for one in new if new[one]]):
        yield change.band_aid("lowered_log_level", row)


def _level(line: str) -> int:
    """Give the rank of a line's level, from 1; 0 where it names none."""
    match = LEVEL.search(line)
    name = match[1].lower() if match else ""
    name = _SAME.get(name, name)
    return LEVELS.index(name) + 1 if name in LEVELS else 0


def silenced_report(change: Change) -> Iterator[BandAid]:
    """Find calls that told a tracker or the team, and are gone."""
    gone = [
        line
        for line in change.removed.values()
        if REPORTS.search(line) and not COMMENT.match(line) and not IMPORT.match(line)
    ]
    kept = [
        line for line in change.added.values() if REPORTS.search(line) and not COMMENT.match(line)
    ]
    if len(gone) > len(kept):
        yield change.band_aid("silenced_report", min(change.added, default=0))
    for row, line in change.added.items():
        if _DROPPED.match(line) and any(map(_FILTER.search, change.new[max(0, row - 12) : row])):
            yield change.band_aid("silenced_report", row)


def widened_ignore(change: Change) -> Iterator[BandAid]:
    """Find lists of what is ignored that grew; those of tests have rules of their own."""
    if change.is_test:
        return
    for row, line in change.added.items():
        owner = _owner(change, row)
        names = set(_NAMED_ERROR.findall(line))
        known = set(_NAMED_ERROR.findall("\n".join(change.old)))
        if owner and names - known and not COMMENT.match(line) and not IMPORT.match(line):
            yield change.band_aid("widened_ignore", row)


def _owner(change: Change, row: int) -> str:
    """Find the line that names the list of ignored things which a row belongs to; empty if none."""
    line = change.new[row]
    if _GROWING.search(line):
        return line
    for above in reversed(change.new[max(0, row - 30) : row]):
        if re.search(r"[\[({]\s*$|=>?\s*%[wi]\[|:\s*$", above):
            return above if IGNORING.search(above) and not above.startswith(("if ", "def ")) else ""
        if re.match(r"^[\])}]|^$|^end\b", above):
            return ""
    return ""


def ignored_warning(change: Change) -> Iterator[BandAid]:
    """Find marks that switch off a check, where the line had none."""
    before = sum(1 for line in change.removed.values() if WARNINGS_OFF.search(line))
    rows = [row for row, line in change.added.items() if WARNINGS_OFF.search(line)]
    if len(rows) > before:
        yield change.band_aid("ignored_warning", rows[0])
