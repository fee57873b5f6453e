"""Finds what a change would let the code do that its file did not do before.

A fix seldom needs a new capability, and whoever smuggles something into one does: people write it.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from nightwatch_core.code.edit_policy import differing_lines
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.proposals import FileChange
from nightwatch_core.models.value import Value
from nightwatch_core.privacy.rules import MASK
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.text.plain_text import shortened
from nightwatch_core.text.rule_files import Pattern, load_rules

Search = Callable[[str], Iterable[SearchHit]]  # finds lines of the code
NETWORK, PROCESS = "talks to the network", "starts processes or runs text as code"


class Capability(Value):
    """Something code can do, and the calls by which it does; without endings in every file."""

    name: str
    calls: Pattern
    endings: tuple[str, ...] = ()
    obfuscated: bool = False  # a roundabout way
    outside_tests: bool = False  # tests may


class Modules(Value):
    """How code names the modules it uses."""

    endings: tuple[str, ...]
    names: Pattern  # a group holds a name, or several between commas
    root: Pattern  # the part of a name that tells one module from another
    defines: Pattern  # names of the code's own, which are no modules
    harmless: Pattern  # whole names of what only computes
    lines: tuple[str, ...]  # texts of lines that use the module `{}`

    def names_in(self, text: str) -> tuple[dict[str, str], set[str]]:
        """Return the modules that a text uses, as it writes them, and the names that it makes."""
        joined = text.replace("\\\n", " ")
        groups = (match[match.lastgroup or 0] for match in self.names.finditer(joined))
        words = (word.split()[0] for group in groups for word in group.split(",") if word.strip())
        used = {root[0]: word for word in words if (root := self.root.match(word))}
        return used, {match[match.lastindex or 0] for match in self.defines.finditer(text)}


class CapabilityRules(Value):
    """`rules/capabilities.toml`."""

    capabilities: tuple[Capability, ...]
    modules: tuple[Modules, ...]
    joined_names: Pattern
    example_hosts: Pattern


RULES = load_rules("capabilities", CapabilityRules)
_JOINED = re.compile(r"(['\"])[ \t]{0,9}[+.][ \t]{0,9}\1")  # 'sys' + 'tem'
_COMMENT = re.compile(r"^[ \t]{0,200}(?:#|//|\*|/\*|--)[^\n]*$", re.MULTILINE)
_OF_PEOPLE = {"email", "phone", "card", "iban", "ip"}  # masks that hide no key
_HOST = re.compile(r"\b(?:https?|wss?|ftp)://([\w.-]{1,253})", re.I)
# a namespace of XML is a name, which nothing fetches
_NAMESPACE = re.compile(
    r"""\bxmlns(?::[\w.-]{1,50})?=\\?["'][^"'\n]{0,300}|\{https?://[^{}\s]{1,300}\}"""
)
_NEIGHBOURS = 40  # files of the folder that are read
_LONGEST = 300_000  # characters of changed lines that are looked at
_PROSE = (".md", ".rst", ".adoc", ".txt")
_COMMENT_LINE = re.compile(r"^\s*(?:#|//|/?\*|--|;|<!--)")


class _Changed(NamedTuple):
    """A file's change: its path, its whole text before, and the lines that differ."""

    path: str
    before: str
    old: str
    new: str

    @property
    def is_test(self) -> bool:
        return bool(TEST.search(self.path))


class Project(NamedTuple):
    """The code that a change is made in."""

    read: Callable[[str], str | None] = lambda _: None
    paths: Collection[str] = ()
    search: Search = lambda _: ()

    def uses(self, module: str, rule: Modules, near: _Changed) -> bool:
        """Tell whether a module is its own, or used beside the changed file or anywhere in it.

        What only tests use is nothing that the code itself uses.
        """
        own = {
            part.removesuffix(rule.endings[0]) for path in self.paths for part in path.split("/")
        }
        folder = near.path.rpartition("/")[0]
        alike = (path for path in self.paths if path.endswith(rule.endings))
        beside = (path for path in alike if path.rpartition("/")[0] == folder)
        texts = ((path, self.read(path) or "") for path in islice(beside, _NEIGHBOURS))
        hits = (hit for line in rule.lines for hit in self.search(line.replace("{}", module)))
        found = ((hit.path, hit.text) for hit in hits if hit.path.endswith(rule.endings))
        mine = (item for item in chain(texts, found) if near.is_test or not TEST.search(item[0]))
        is_own = re.split(r"[./\\]", module)[0] in own
        try:
            return is_own or any(module in chain(*rule.names_in(text)) for _, text in mine)
        except (GiveUp, TryLater):  # the code could not be searched
            return False


def new_capability(change: FileChange, before: str, project: Project | None = None) -> str:
    """Say what the changed file could do and could not before; empty where that is nothing new."""
    if change.text is None:
        return ""
    old, new = ("\n".join(lines) for lines in differing_lines(before, change.text))
    if len(new) > _LONGEST:
        return f"the change to {change.path} is too long to check what it adds"
    changed = _Changed(change.path, before, old, new)
    why = (
        _calls(changed)
        or _addresses(changed)
        or _keys(changed)
        or _modules(changed, project or Project())
    )
    return f"the change to {change.path} adds {why}" if why else ""


def new_capabilities(
    changes: tuple[FileChange, ...],
    before: Callable[[str], str | None],
    paths: Collection[str] = (),
    search: Search | None = None,
) -> str:
    """Say what a set of changes could do and the code could not before; empty for nothing new.

    `paths` are the files of the tree, `search` finds lines in it: they tell what the code uses.
    """
    project = Project(before, paths, search or (lambda _: ()))
    found = (new_capability(change, before(change.path) or "", project) for change in changes)
    return next(filter(None, found), "")


def _calls(changed: _Changed) -> str:
    before = Counter(_capabilities_in(changed.path, changed.old))
    after = Counter(_capabilities_in(changed.path, changed.new))
    added = next(iter(after - before), None)
    return f"code that {added[0]} ({shortened(added[1].strip(), 60)})" if added else ""


def _capabilities_in(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Walk the capabilities of code and the calls that give them; comments hide no plain call."""
    code, is_test = _COMMENT.sub("", text), bool(TEST.search(path))
    for rule in RULES.capabilities:
        is_elsewhere = rule.endings and not path.lower().endswith(rule.endings)
        # tests name hosts and build requests all day
        is_usual = is_test and (rule.outside_tests or (rule.obfuscated and rule.name == NETWORK))
        if not is_elsewhere and not is_usual:
            read = code if rule.obfuscated else text
            yield from ((rule.name, match.group()) for match in rule.calls.finditer(read))
    if len(whole := _JOINED.sub("", code)) < len(code):
        plain = {match.group() for match in RULES.joined_names.finditer(code)}
        pieces = (match.group() for match in RULES.joined_names.finditer(whole))
        yield from ((PROCESS, piece) for piece in pieces if piece not in plain)


def _modules(changed: _Changed, project: Project) -> str:
    rule = next((r for r in RULES.modules if changed.path.lower().endswith(r.endings)), None)
    if rule is None:
        return ""
    (used, made), held = rule.names_in(changed.new), rule.names_in(changed.before)
    for module, name in used.items():
        is_new = module not in chain(made, *held) and not rule.harmless.fullmatch(name)
        if is_new and not project.uses(module, rule, changed):
            return f"a module that nothing here uses ({shortened(module, 60)})"
    return ""


def _addresses(changed: _Changed) -> str:
    if changed.path.lower().endswith(_PROSE):
        return ""
    held = set(_hosts(changed.before))
    new = _NAMESPACE.sub("", changed.new) if changed.is_test else changed.new
    hosts = (host for host in _hosts(new) if host not in held)
    unknown = (h for h in hosts if not (changed.is_test and RULES.example_hosts.match(h)))
    host = next(unknown, "")
    return f"a new address ({shortened(host, 100)})" if host else ""


def _hosts(text: str) -> list[str]:
    # a comment may be written by anybody and allows no address
    lines = (line for line in text.splitlines() if not _COMMENT_LINE.match(line))
    return _HOST.findall("\n".join(lines))


def _keys(changed: _Changed) -> str:
    if changed.is_test:
        return ""
    held = set(changed.before.splitlines())
    lines = "\n".join(text for text in changed.new.splitlines() if text not in held)
    kinds = {mask["kind"] for mask in MASK.finditer(REMOVAL.scrub(lines))} - _OF_PEOPLE
    return "what looks like a key or password" if kinds else ""
