"""Which files test a file: told by their names, as languages and frameworks name them."""

import re
from collections.abc import Iterable

from nightwatch_core.code.grammars import ending_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.limits import TEST_FILES
from nightwatch_core.text.error_classes import words

_ROLES = frozenset(("test", "tests", "spec", "specs", "it", "unit", "case"))
_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")


def files_testing(path: str, paths: Iterable[str], limit: int = TEST_FILES) -> tuple[str, ...]:
    """List the tests of a file, the likeliest first: `test_cart.py` before `test_old_cart.py`.

    Their names have all words of the file's name; words that are no folder of the file's are
    counted against them.

    >>> files_testing("shop/cart.py", ("tests/test_cart.py", "tests/test_carts.py", "shop/cart.py"))
    ('tests/test_cart.py',)
    """
    wanted = _words(_stem(path))
    if not wanted or TEST.search(path):
        return ()
    folders = {word for folder in path.split("/")[:-1] for word in _words(folder)}
    ranked = sorted(
        (len(said - wanted - folders), -len(said & (wanted | folders)), -_shared(path, one), one)
        for one in paths
        if TEST.search(one) and _is_alike(path, one) and wanted <= (said := _words(_stem(one)))
    )
    return tuple(one for extra, *_, one in ranked if extra <= len(wanted))[:limit]


def _stem(path: str) -> str:
    return re.split(r"[.](?!.*/)", path.rpartition("/")[2])[0]


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in words(name)) - _ROLES


def _is_alike(path: str, other: str) -> bool:
    """Whether both are of one language, as far as endings tell."""
    one, two = ending_of(path), ending_of(other)
    return one == two or (one in _SCRIPTS and two in _SCRIPTS)


def _shared(path: str, other: str) -> int:
    return len({*path.split("/")[:-1]} & {*other.split("/")[:-1]})
