"""Which frames of the application a first message shows: rows that are marked as ours."""

import re

_OURS = re.compile(r"^(?P<row>.*?)  <- ours(?:, (?P<place>\S+:\d+))?$", re.MULTILINE)
_PLACE = re.compile(r'(?:File "(?P<file>[^"]+)", line |(?P<path>[^\s:("]+\.\w+):)(?P<line>\d+)')
_HEAD = re.compile(r"^(\S+) \(lines \d+-\d+ of \d+\)", re.MULTILINE)


def own_frames(text: str) -> list[tuple[str, int]]:
    """Paths in the repository and lines, innermost first; of Python the last row is."""
    rows = list(_OURS.finditer(text))
    if any('File "' in one["row"] for one in rows):
        rows.reverse()
    shown = _HEAD.findall(text)
    frames = []
    for one in rows:
        found = _PLACE.search(one["place"] or one["row"])
        if found:
            path = found["file"] or found["path"]
            ends = [head for head in shown if f"/{path}".endswith(f"/{head}")]
            frames.append((max(ends, key=len, default=path), int(found["line"])))
    return frames
