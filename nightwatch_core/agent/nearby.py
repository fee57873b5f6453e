"""Names that may have been meant by one that is not there."""

import difflib
from collections.abc import Iterable

_MOST = 5
_COMPARED = 20_000  # names that are compared letter by letter


def near_matches(path: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Up to five paths like `path`: the longest common ending first, then similar names.

    >>> near_matches("srv/app/order.py", ("app/order.py", "lib/order.py", "app/orders.py", "x"))
    ('app/order.py', 'lib/order.py', 'app/orders.py')
    """
    known = tuple(paths)
    name = path.rsplit("/", 1)[-1]
    same = sorted(
        (other for other in known if other.rsplit("/", 1)[-1] == name),
        key=lambda other: (-_common_ending(path, other), other),
    )
    names = tuple(dict.fromkeys(other.rsplit("/", 1)[-1] for other in known))[:_COMPARED]
    alike = difflib.get_close_matches(name[:200], names, n=_MOST, cutoff=0.7)
    similar = (o for one in alike for o in known if o.rsplit("/", 1)[-1] == one)
    return tuple(dict.fromkeys((*same, *similar)))[:_MOST]


def folders(paths: Iterable[str]) -> tuple[str, ...]:
    """Every folder that holds one of the files.

    >>> folders(("a/b/c.py", "a/d.py"))
    ('a', 'a/b')
    """
    parts = (path.split("/") for path in paths)
    return tuple(sorted({"/".join(p[:n]) for p in parts for n in range(1, len(p))}))


def _common_ending(one: str, other: str) -> int:
    pairs = zip(reversed(one.split("/")), reversed(other.split("/")), strict=False)
    count = 0
    for mine, theirs in pairs:
        if mine != theirs:
            break
        count += 1
    return count
