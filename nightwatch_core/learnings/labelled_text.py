"""What people label in a text: "Root cause: …", a heading "Gotchas", an element `<solution>`.

A label has to be one of the table's; everything else is prose. Nothing within a block of code is a
label.
"""

import re
from collections.abc import Iterator
from typing import Literal

from nightwatch_core.learnings.limits import SECTION
from nightwatch_core.models.value import Value

Role = Literal[
    "what", "symptoms", "root_cause", "solution", "prevention",
    "choice", "alternatives", "rationale", "gotcha", "prose", "break",
]  # fmt: skip

_LABELS: tuple[tuple[Role, str], ...] = (
    ("what", "problem|problems|problem encountered|problems encountered|issue|issues"
     "|issue encountered|issues encountered|what went wrong|bug|bugs found|blocker|blockers"),
    ("symptoms", "symptom|symptoms|observed|observed behavior|observed behaviour"),
    ("root_cause", "root cause|root causes|cause|causes|why it happened|root cause analysis"),
    ("solution", "solution|fix|fixes|the fix|fix applied|resolution|how fixed|how we fixed it"
     "|workaround|resolved by"),
    ("prevention", "prevention|preventive measures|how to prevent it|how to avoid it"),
    ("choice", "decision|decisions|decision outcome|decisions made|key decisions|chosen option"
     "|design decisions|technical decisions|architecture decisions|chosen approach|choice"),
    ("alternatives", "alternatives|alternatives considered|considered alternatives|rejected"
     "|considered options|options considered|rejected alternatives|rejected approaches"),
    ("rationale", "rationale|reason|reasons|reasoning|justification|why"),
    ("gotcha", "gotcha|gotchas|caveat|caveats|pitfall|pitfalls|surprise|surprises|footguns"
     "|lesson|lessons|lesson learned|lessons learned|key learning|key learnings|learning|learnings"
     "|what we learned|known limitation|known limitations|watch out|watch out for"),
)  # fmt: skip
ROLES: dict[str, Role] = {name: role for role, names in _LABELS for name in names.split("|")}
_ELEMENTS: dict[str, Role] = ROLES | {"actual": "choice", "planned": "alternatives"}
_GROUPS = ("problem", "issue", "decision", "deviation")  # elements that hold one item each

_NAMES = "|".join(sorted(ROLES, key=len, reverse=True))
_TAG = re.compile(r"<(/?)([A-Za-z][a-z]*(?:-[a-z]+){0,4})((?:\s[^<>\n]{0,600})?)>")
_REASONING = re.compile(r'\breasoning="([^"]{1,600})"')
_ID, _NAME = re.compile(r'\bid="([^"]{1,40})"'), re.compile(r'\bname="([^"]{1,200})"')
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.{0,200})")
_NUMBER = re.compile(r"^(?:\d{1,3}[.):]|#\d{1,4}:?)\s*")
_LABEL = re.compile(
    rf"(?:^\s*(?:[-*+]\s+|\d{{1,3}}[.)]\s+)?|(?<=[.;!?])\s+|→\s*)"
    rf"[*_]{{0,3}}({_NAMES})(?:[*_]{{0,3}}\s*:[*_]{{0,3}})(?:\s+|$)",
    re.IGNORECASE,
)
_BOLD = re.compile(  # another label, which says nothing to us
    r"\s*(?:[-*+]\s+)?(?:[^\w\s*]\s*)?(?:\*\*|__)[^*_:\n]{1,60}(?::(?:\*\*|__)|(?:\*\*|__)\s*:)"
)
_COMMENT = re.compile(r"<!--.{0,20000}?-->", re.DOTALL)
_UNRESOLVED = re.compile(r'\bresolved="false"', re.IGNORECASE)
_FENCE = re.compile(r"\s{0,6}(```|~~~)")
_MARK = "\x01"  # begins a line that an element was made into
_MOST = 500  # parts of one section


class Part(Value):
    """A piece of text under its label; `depth` is a heading's, 7 for any other label."""

    role: Role
    text: str = ""
    depth: int = 7
    several: bool = False  # its label names several: "Decisions"
    held: bool = False  # a heading below one that does


def parts_of(text: str) -> tuple[Part, ...]:
    """The parts of a section in their order; headings that are no labels are breaks.

    >>> [(one.role, one.text) for one in parts_of("Slow.\\n\\n**Root cause:** no index")]
    [('prose', 'Slow.'), ('root_cause', 'no index')]
    """
    reader = _Reader()
    for row in _without_elements(text[:SECTION]).split("\n"):
        reader.read(row)
    return (*reader.parts, *reader.open_part())[:_MOST]


class _Reader:
    """Reads a section line by line."""

    def __init__(self) -> None:
        """Begin with prose."""
        self.parts: list[Part] = []
        self._now, self._rows = Part(role="prose"), list[str]()
        self._above: Part | None = None  # the heading that names items of one kind
        self._in_code = self._said_at_once = False

    def read(self, row: str) -> None:
        """Take one more line."""
        is_fence = bool(_FENCE.match(row))
        if self._in_code or is_fence:
            self._in_code ^= is_fence
            self._rows.append(row)
        elif row.startswith(_MARK):
            self._element(row[1:])
        elif heading := _HEADING.fullmatch(row.rstrip()):
            self._heading(len(heading[1]), _plain(heading[2]))
        elif self._ends_with(row):
            self._begin(Part(role="prose"), row)
        else:
            self._labelled(row)

    def _ends_with(self, row: str) -> bool:
        """Whether a label in a line speaks no more: of an empty line, or another label in bold."""
        is_inline = self._now.depth == 7 and self._now.role != "prose" and bool(self._rows)
        other = self._said_at_once and _BOLD.match(row) and not _LABEL.match(row)
        return is_inline and (not row.strip() or bool(other))

    def open_part(self) -> Iterator[Part]:
        """The part that is being read, where it says something."""
        text = "\n".join(self._rows).rstrip().strip("\n")
        if text.strip() or self._now.role == "break":
            yield self._now.model_copy(update={"text": text})

    def _begin(self, part: Part, *rows: str) -> None:
        self.parts += self.open_part()
        self._now, self._rows = part, [row for row in rows if row.strip()]

    def _element(self, name: str) -> None:
        opens, _, text = name.partition(" ")
        if opens in ("/", ""):
            self._begin(Part(role="prose"))
            return
        if opens.startswith("*"):
            self._begin(Part(role="break", depth=0))
        label = opens.lstrip("*").replace("-", " ")
        role = _ELEMENTS.get(label, "prose")
        several = label not in _GROUPS and label.endswith("s")
        self._begin(Part(role=role, depth=8, several=several), text)

    def _heading(self, depth: int, title: str) -> None:
        role = ROLES.get(title.lower().rstrip(":"))
        if role:
            several = title.lower().rstrip(":").endswith("s")
            self._above = Part(role=role, depth=depth, several=several)
            self._begin(self._above)
        elif self._above and self._above.several and depth > self._above.depth:
            self._begin(Part(role=self._above.role, depth=depth, held=True), title)
        else:
            self._above = None
            self._begin(Part(role="break", depth=depth), title)
            self._begin(Part(role="prose"))

    def _labelled(self, row: str) -> None:
        at = 0
        label: Part | None = None
        for found in _LABEL.finditer(row):
            before = row[at : found.start()]
            if label is None and before.strip():
                self._rows.append(before)
            elif label is not None:
                self._begin(label, before)
            name = found[1].lower()
            at, label = found.end(), Part(role=ROLES[name], several=name.endswith("s"))
        if label is None:
            self._rows.append(row)
        else:
            self._begin(label, row[at:])
            self._said_at_once = bool(row[at:].strip())


def _without_elements(text: str) -> str:
    """The text with its elements made into lines that `_Reader` knows; those in a line stay."""
    text = _COMMENT.sub("", text.replace(_MARK, ""))
    solutions, unresolved = _solutions(text), [False]

    def made(tag: re.Match[str]) -> str:
        name, attributes = tag[2].lower(), tag[3]
        if name == "winner":
            return _winner(attributes, solutions)
        is_known = name in _GROUPS or name.replace("-", " ") in _ELEMENTS
        if tag[1] or attributes.endswith("/") or (is_known and _ID.search(attributes)):
            return f"\n{_MARK}/\n" if is_known or _stands_alone(tag) else tag[0]
        if not is_known:
            in_issue = name == "description"  # what an issue says stands in it
            return "" if in_issue else f"\n{_MARK}/\n" if _stands_alone(tag) else tag[0]
        if name == "issue":
            unresolved[:] = [bool(_UNRESOLVED.search(attributes))]
        if name == "resolution" and unresolved == [True]:
            return f"\n{_MARK}{name} Not resolved:\n"
        return f"\n{_MARK}{'*' if name in _GROUPS else ''}{name}\n"

    return _TAG.sub(made, text)


def _stands_alone(tag: re.Match[str]) -> bool:
    """Whether a tag begins or ends a line: then it is no word of a sentence."""
    text = tag.string
    before = text[text.rfind("\n", 0, tag.start()) + 1 : tag.start()]
    return not before.strip() or text[tag.end() : tag.end() + 1] in ("", "\n")


def _solutions(text: str) -> dict[str, str]:
    """The names of the solutions that were weighed, by their ids."""
    tags = (one for one in _TAG.finditer(text) if one[2].lower() == "solution" and not one[1])
    pairs = ((_ID.search(one[3]), _NAME.search(one[3])) for one in tags)
    return {id[1]: name[1] for id, name in pairs if id and name}


def _winner(attributes: str, solutions: dict[str, str]) -> str:
    """The solution that was chosen, by its name, what else was weighed, and why."""
    which, why = _ID.search(attributes), _REASONING.search(attributes)
    name = solutions.get(which[1], "") if which else ""
    if not name:
        return ""
    others = ", ".join(one for one in solutions.values() if one != name)
    told = (("choice", name), ("alternatives", others), ("rationale", why[1] if why else ""))
    lines = "".join(f"{_MARK}{label} {text}\n" for label, text in told if text)
    return f"\n{lines}{_MARK}/\n"


def _plain(title: str) -> str:
    return _NUMBER.sub("", title.strip().strip("#").strip()).strip("*_ ")
