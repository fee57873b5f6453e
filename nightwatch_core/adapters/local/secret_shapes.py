"""What looks like a secret to detect-secrets: its detectors of shapes, without those of entropy.

They are asked line by line and for nothing else: the library's own scan would try keys out over the
network. Importing it takes half a second, so that is done with the first text.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

LONGEST = 600  # characters of a line that are looked at together: some detectors take its square
OVERLAP = 120  # characters of two such pieces
MOST = 1_000_000  # characters of one text: no publication has as many
_MASK = re.compile(r"<[a-z]{2,12}-\d{6}>")
_NOT_ASKED = frozenset({"Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector"})
_BY_PLACE = frozenset({"Secret Keyword", "Basic Auth Credentials"})  # password = "…", user:…@
_KEY_BEGINS = re.compile(r"[A-Za-z0-9+/=]{20}")


def secret_shapes(text: str) -> Iterator[tuple[str, int]]:
    """Yield the kind and the line, from 1, of all that looks like a secret; masks never do.

    >>> list(secret_shapes("fine\\nkey AKIA" + "QZXCVBNMASDFGHJK"))
    [('AWS Access Key', 2)]
    """
    lines = text[:MOST].split("\n")
    for number, line in enumerate(lines, 1):
        if _may_hold(line):
            bare, below = _MASK.sub("", line), "\n".join(lines[number : number + 2])
            for start in range(0, max(len(bare), 1), LONGEST - OVERLAP):
                piece = bare[start : start + LONGEST]
                yield from ((kind, number) for kind in _kinds(piece, _MASK.sub("", below)))


def _may_hold(line: str) -> bool:
    """Whether asking is worth it: a long word, one with letters and digits, or a key's head."""
    if "PRIVATE KEY" in line or "PuTTY" in line:
        return True
    return any(len(one) >= 16 or (len(one) >= 8 and _is_mixed(one)) for one in line.split())


def _is_mixed(word: str) -> bool:
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def _kinds(line: str, below: str) -> Iterator[str]:
    for detector in _detectors():
        for value in detector.analyze_string(line):
            if _counts(detector.secret_type, value, line, below):
                yield str(detector.secret_type)
                break


def _counts(kind: str, value: str, line: str, below: str) -> bool:
    """Whether it is no example: words where a password stands, a key's head without a key."""
    from detect_secrets.filters import heuristic

    if kind in _BY_PLACE:
        is_words = not _is_mixed(value) or " " in value.strip()
        is_code = heuristic.is_templated_secret(value) or heuristic.is_indirect_reference(line)
        return not (is_words or is_code)
    if kind == "Private Key":
        return _KEY_BEGINS.search(f"{line.partition(value)[2]}\n{below[:200]}") is not None
    return True


@cache
def _detectors() -> tuple[Any, ...]:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    known: Iterable[Any] = get_mapping_from_secret_type_to_class().values()
    return tuple(each() for each in known if each.__name__ not in _NOT_ASKED)
