"""The files of a repository, ready to be asked for by name or by the end of their path."""

from collections.abc import Iterable, Iterator

# Folders whose files are other people's, wherever they stand in a path.
VENDORED_FOLDERS = frozenset(
    (
        *("vendor", "node_modules", "bower_components", "site-packages", "dist-packages"),
        *("gems", ".bundle", "third_party", "Pods", ".venv", "venv", "__pycache__"),
    )
)


def is_vendored(path: str) -> bool:
    """Tell whether a path of the repository leads into a folder of libraries.

    >>> is_vendored("vendor/bundle/a.rb"), is_vendored("app/vendor.rb")
    (True, False)
    """
    return not VENDORED_FOLDERS.isdisjoint(path.split("/")[:-1])


class PathIndex:
    """The repository's own files (vendored ones are left out), indexed by file name once."""

    def __init__(self, paths: Iterable[str]) -> None:
        """Read a tree's paths: relative, with slashes."""
        self._by_name: dict[str, list[str]] = {}
        self._by_last_two: dict[str, list[str]] = {}
        self._paths = frozenset(path for path in paths if not is_vendored(path))
        for path in sorted(self._paths):
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)
            self._by_last_two.setdefault(_last_two(path), []).append(path)

    def __contains__(self, path: object) -> bool:
        """Whether the tree has exactly this file."""
        return path in self._paths

    def __iter__(self) -> Iterator[str]:
        """Every file, sorted."""
        return iter(sorted(self._paths))

    def __len__(self) -> int:
        """How many files."""
        return len(self._paths)

    def named(self, name: str) -> tuple[str, ...]:
        """Return every file of that name, sorted.

        >>> PathIndex(("b/a.py", "a.py", "vendor/a.py")).named("a.py")
        ('a.py', 'b/a.py')
        """
        return tuple(self._by_name.get(name, ()))

    def nearest(self, path: str) -> tuple[tuple[str, ...], int]:
        """Return the files that share the longest end with a path, and how many segments that is.

        >>> PathIndex(("x/shop/a.py", "y/shop/a.py", "a.py")).nearest("/srv/shop/a.py")
        (('x/shop/a.py', 'y/shop/a.py'), 2)
        """
        near = self._by_last_two.get(_last_two(path), ()) if "/" in path.lstrip("/") else ()
        if not near:
            named = self.named(path.rpartition("/")[2])
            return named, 1 if named else 0
        shared = tuple((common_tail(path, one), one) for one in near)
        longest = max(count for count, _ in shared)
        return tuple(one for count, one in shared if count == longest), longest

    def ending(self, suffix: str) -> tuple[str, ...]:
        """Return every file whose path ends in these whole segments, shortest first.

        >>> PathIndex(("x/shop/a.py", "shop/a.py", "xshop/a.py")).ending("shop/a.py")
        ('shop/a.py', 'x/shop/a.py')
        """
        tail = f"/{suffix}"
        ending = (p for p in self.named(suffix.rpartition("/")[2]) if f"/{p}".endswith(tail))
        return tuple(sorted(ending, key=lambda path: (path.count("/"), path)))


def _last_two(path: str) -> str:
    return "/".join(path.split("/")[-2:])


def common_tail(one: str, other: str) -> int:
    """Count how many last segments two paths share.

    >>> common_tail("/srv/app/models/a.rb", "lib/models/a.rb")
    2
    """
    count = 0
    for left, right in zip(reversed(one.split("/")), reversed(other.split("/")), strict=False):
        if left != right or not left:
            break
        count += 1
    return count
