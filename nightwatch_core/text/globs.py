"""Globs over paths: `*` within a name, `**` over folders, `{a,b}` for either."""

import fnmatch
import re

_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST = 16  # globs that one with braces may stand for


def is_glob(text: str) -> bool:
    """Whether the text is meant as a pattern.

    >>> is_glob("*.py"), is_glob("order.py")
    (True, False)
    """
    return any(character in text for character in "*?[{")


def matches(path: str, glob: str) -> bool:
    """Whether the glob stands for the path: without a slash for its name, else from the root.

    Takes time in proportion to both lengths.

    >>> [matches("app/models/order.rb", g) for g in ("*.rb", "app/**/*.rb", "**/order.{py,rb}")]
    [True, True, True]
    >>> [matches("app/models/order.rb", g) for g in ("app/*.rb", "order", "models/*")]
    [False, False, False]
    """
    return any(_matches(path, one) for one in _expanded(glob.removeprefix("./").lstrip("/")))


def fixed_folder(glob: str) -> str:
    """The folder that everything a glob stands for is in; empty where it says none.

    >>> fixed_folder("app/models/**/*.rb"), fixed_folder("*.rb"), fixed_folder("a/{b,c}/d")
    ('app/models', '', 'a')
    """
    fixed: list[str] = []
    for part in glob.removeprefix("./").strip("/").split("/")[:-1]:
        if is_glob(part) or part == "..":
            break
        fixed.append(part)
    return "/".join(fixed)


def _expanded(glob: str) -> tuple[str, ...]:
    globs = [glob]
    while len(globs) < _MOST and (found := _BRACES.search(globs[0])):
        first, *rest = globs
        head, tail = first[: found.start()], first[found.end() :]
        globs = [*rest, *(f"{head}{choice}{tail}" for choice in found[1].split(","))]
    return tuple(globs[:_MOST])


def _matches(path: str, glob: str) -> bool:
    names, parts = path.split("/"), glob.split("/")
    if len(parts) == 1 and glob != "**":
        return fnmatch.fnmatchcase(names[-1], glob)
    reached = {0}  # how many names the parts so far can stand for
    for part in parts:
        if part == "**":
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {
                n + 1 for n in reached if n < len(names) and fnmatch.fnmatchcase(names[n], part)
            }
        if not reached:
            return False
    return len(names) in reached
