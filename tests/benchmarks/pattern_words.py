"""The grammar of synthetic nights: subjects, and defects in several wordings each."""

from pathlib import Path
from typing import NamedTuple

import yaml


class Subject(NamedTuple):
    """Something a defect can be about: phrases for it, words of its name, a method, values."""

    said: tuple[str, ...]
    words: tuple[str, ...]
    method: str
    values: tuple[str, ...]
    who: tuple[str, ...]


def _subject(said: str, words: str, method: str, values: str, who: str) -> Subject:
    split = (tuple(text.split("|")) for text in (said, words.replace(" ", "|"), values, who))
    phrases, name, some, people = split
    return Subject(phrases, name, method, some, people)


_DATA = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))
LANGUAGES = {name: tuple(fields.values()) for name, fields in _DATA["languages"].items()}
SUBJECTS = tuple(_subject(*row) for row in _DATA["subjects"])
DEFECTS: dict[str, list[str]] = _DATA["defects"]
THEMES = tuple(map(tuple, _DATA["themes"]))
RESERVED, ASIDES = _DATA["reserved"], _DATA["asides"]
OUTSIDE_SAYINGS, VENDORS = _DATA["outside"], _DATA["vendors"]
OTHER_TAGS, ACTIONS, AREAS = (_DATA[name].split() for name in ("other_tags", "actions", "areas"))
