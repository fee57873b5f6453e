"""Which files a fix of ours may touch: ordinary source and tests, nothing else.

Deny by default whatever runs at build time, decides about reviews, instructs agents, or is spelt so
that two programs may read it differently. Paths are compared after NFKC and case folding. Where an
ordinary file has a name of these (a `hooks` folder below `src`, a shop's `vendor` models) the rules
look at how deep it lies: what builds and checks run by themselves stands at the top.
"""

import re
import unicodedata
from collections.abc import Callable, Collection
from fnmatch import fnmatchcase

from nightwatch_core.code.protected_names import (
    AGENT_FILES,
    ANYWHERE,
    AT_THE_TOP,
    BINARIES,
    BUILD_FILES,
    CHANGE_NOTES,
    CI_FILES,
    DEVICES,
    MANIFESTS,
    OPERATIONS,
    ORDINARY_THERE,
    PROSE,
    SECRETS,
    SOURCE,
)
from nightwatch_core.text.escaping import clean

_LOOK_ALIKE = re.compile("[\u0370-\u058f\u13a0-\u13ff]")  # Greek, Cyrillic, Armenian, Cherokee
_TROUBLESOME = '\\%:*?"<>|~`\u2044\u2215\u29f5\u29f8'  # the last look like slashes


def _malformed(path: str) -> bool:
    return (
        not path
        or len(path) > 400
        or any(len(part.encode("utf-8", "replace")) > 255 for part in path.split("/"))
        or any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn") for c in path)
        or any(c in path for c in _TROUBLESOME)
        or path.startswith(("-", "$"))
        or "$(" in path
        or "${" in path
        or path != path.strip()
    )


def _leaves_the_tree(path: str) -> bool:
    return any(part.strip(" .") == "" for part in path.split("/"))


def _ambiguous(path: str) -> bool:
    """Spelt so that folding changes it: full-width dots, ligatures, unseen or combining marks."""
    return unicodedata.normalize("NFKC", path) != path or clean(path) != path


def _dotted(path: str) -> bool:
    return any(map(_is_dotted, path.split("/")))


def _is_dotted(part: str) -> bool:
    is_hidden = part.startswith(".") and not part.startswith("..")  # `..name` is no tool's name
    return is_hidden or part.endswith((".", " "))


def _named(*patterns: str) -> Callable[[str], bool]:
    def rule(path: str) -> bool:
        name = path.rsplit("/", 1)[-1]
        return any(
            fnmatchcase(f"/{path}", f"*/{one}") if "/" in one else fnmatchcase(name, one)
            for one in patterns
        )

    return rule


def _in_protected_folder(path: str) -> bool:
    folders = path.split("/")[:-1]
    at_the_top = folders[:1] if folders[:1] != ["packages"] else folders[2:3]
    return any(part in ANYWHERE for part in folders) or any(
        part in (*AT_THE_TOP, *OPERATIONS) for part in at_the_top
    )


def _operates(path: str) -> bool:
    """In a folder of what runs and deploys that lies deeper, as in a monorepo."""
    *folders, name = path.split("/")
    source = next((at for at, part in enumerate(folders) if part in SOURCE), len(folders))
    return any(part in OPERATIONS for part in folders[:source]) and not name.endswith(
        ORDINARY_THERE
    )


def _is_device(path: str) -> bool:
    return any(part.split(".")[0].strip() in DEVICES for part in path.split("/"))


def _looks_alike(path: str) -> bool:
    """Whether a name mixes Latin letters with others that are drawn like them."""
    stems = (part.rpartition(".")[0] or part for part in path.split("/"))
    return any(re.search(r"[a-z]", stem, re.I) and _LOOK_ALIKE.search(stem) for stem in stems)


RULES: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("is not a plain path", _malformed),
    ("mixes letters that look alike", _looks_alike),
    ("leaves the repository", _leaves_the_tree),
    ("is spelt ambiguously", _ambiguous),
    ("is in a dot folder or a dot file", _dotted),
    ("is the name of a device", _is_device),
    ("configures CI", _named(*CI_FILES)),
    ("runs at build time", _named(*BUILD_FILES)),
    ("is a manifest or lock file", _named(*MANIFESTS)),
    ("instructs agents or reviewers", _named(*AGENT_FILES)),
    ("may hold secrets", _named(*SECRETS)),
    ("is in a protected folder", _in_protected_folder),
    ("lies where things are run or deployed from", _operates),
    ("is binary", _named(*BINARIES)),
)


def is_change_note(path: str, paths: Collection[str], is_new: bool = True) -> bool:
    """Whether a file is new and a note of a change, as repositories demand them with every change.

    It is one in a folder kept for them where files of its kind lie already; of all dot folders
    only those, since what else is in them configures, runs or instructs.

    >>> is_change_note(".changeset/odd-bees.md", (".changeset/calm-ants.md",))
    True
    >>> is_change_note(".github/odd-bees.md", (".github/calm-ants.md",))
    False
    """
    *folders, name = path.split("/")
    ending, dotted = name[name.rfind(".") :], [one for one in folders if _is_dotted(one)]
    return (
        is_new
        and ending in PROSE
        and not _is_dotted(name)
        and len(dotted) == 1
        and any(fnmatchcase(dotted[0], one) for one in CHANGE_NOTES)
        and any(
            one.rpartition("/")[0] == "/".join(folders) and one.endswith(ending) for one in paths
        )
    )


def _is_in_package(path: str, paths: Collection[str], _: bool) -> bool:
    """Whether a module lies in a Python package, as a command line's modules in `shop/bin`."""
    return path.endswith(".py") and f"{path.rpartition('/')[0]}/__init__.py" in paths


Excuse = Callable[[str, Collection[str], bool], bool]
EXCUSES: tuple[tuple[Callable[[str], bool], Excuse], ...] = (
    (_dotted, is_change_note),
    (_operates, _is_in_package),
)


def refusal(path: str, paths: Collection[str] = (), *, is_new: bool = False) -> str:
    """Why a path may not be touched; empty where it may.

    `paths` are the files of the tree: they tell a Python package from a folder of scripts, and a
    new note of a change, which may lie in a dot folder, by its siblings.

    >>> refusal("app/models/order.rb")
    ''
    >>> refusal(".github/workflows/ci.yml")
    '.github/workflows/ci.yml is in a dot folder or a dot file'
    >>> refusal("app/../Gemfile")
    'app/../Gemfile leaves the repository'
    """
    folded = unicodedata.normalize("NFKC", path).casefold()
    excused = {rule for rule, excuse in EXCUSES if excuse(path, paths, is_new)}
    for reason, broken in RULES:
        if broken not in excused and (broken(path) or broken(folded)):
            return f"{ascii(path[:200])[1:-1]} {reason}"
    return ""
