"""How much of what is hidden in texts a scrubber takes out."""

from collections.abc import Callable, Iterable
from typing import NamedTuple


class Rate(NamedTuple):
    """Texts, and those from which the hidden value went."""

    texts: int
    removed: int
    missed: tuple[str, ...]  # kinds, each once

    @property
    def share(self) -> float:
        return self.removed / self.texts


def removal(samples: Iterable[tuple[str, str, str]], scrub: Callable[[str], str]) -> Rate:
    """Count the samples (kind, text, hidden value) whose value is gone."""
    ends = [(kind, hidden not in scrub(text)) for kind, text, hidden in samples]
    missed = dict.fromkeys(kind for kind, is_gone in ends if not is_gone)
    return Rate(len(ends), sum(is_gone for _, is_gone in ends), tuple(missed))
