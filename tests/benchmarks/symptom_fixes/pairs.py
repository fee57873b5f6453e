"""Reads labelled pairs: `=== name label [hard] path`, the old version, `---`, the new one."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

NONE = "-"  # the label of a change that is no symptom fix


class Labelled(NamedTuple):
    """Two versions of a file, and what people call the change."""

    name: str
    label: str
    is_hard: bool
    path: str
    before: str
    after: str

    @property
    def language(self) -> str:
        """The beginning of its name: py, rb, js, java, go, php, cs."""
        return self.name.partition("-")[0]


def pairs_in(files: tuple[Path, ...]) -> Iterator[Labelled]:
    """Walk the pairs of some files."""
    for file in files:
        for block in re.split(r"^=== ", file.read_text(), flags=re.MULTILINE)[1:]:
            head, _, versions = block.partition("\n")
            name, label, *hard, path = head.split()
            before, after = versions.split("\n---\n")
            yield Labelled(name, label, bool(hard), path, f"{before}\n", after)


def development() -> tuple[Labelled, ...]:
    """The pairs that the detector was made on."""
    return tuple(pairs_in(tuple(sorted(Path(__file__).parent.glob("pairs_*.txt")))))


def blind() -> tuple[Labelled, ...]:
    """The pairs that judge it, and that nobody mends it by."""
    return tuple(pairs_in(tuple(sorted(Path(__file__).parent.glob("blind_*.txt")))))
