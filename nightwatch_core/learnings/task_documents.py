"""Task files: Markdown that people and their agents keep about one task, and notes at its end.

Nothing else in them is touched, byte for byte.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from textwrap import dedent

from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.note_reader import normalised, notes_in, rendered
from nightwatch_core.models.knowledge import Decision, Notes, Problem, TaskFile, TaskSection
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import line
from nightwatch_core.text.frontmatter import with_items as with_list
from nightwatch_core.text.plain_text import text_table

SECTIONS = ("research", "plan", "implementation", "ship")
RELATED, PROMOTED = "related_tasks", "promoted"  # keys of the front matter
_BEGINS = re.compile(rf"^ {{0,3}}<({'|'.join(SECTIONS)})(?:\s[^<>\n]{{0,200}})?>", re.I | re.M)
_ENDS = re.compile(
    rf"</(?:{'|'.join(SECTIONS)})>|^ {{0,3}}<(?:{'|'.join(SECTIONS)}|future-agent-notes)[\s>]",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(r"^# +(\S[^\n]{0,500})", re.MULTILINE)
_PAST_LEARNINGS = re.compile(r"<past-learnings>.*?</past-learnings>", re.DOTALL)
SECTION = 64 * 1024  # characters of a section that are read


def items_in(value: object) -> tuple[str, ...]:
    """Return the items of a list as people write one: a YAML list, or one text with commas.

    A wiki's link, `[[a]]`, is to YAML a list in a list.

    >>> items_in(["a", 7, ""]), items_in("a, b"), items_in(None), items_in([[["a"]], "b"])
    (('a', '7'), ('a', 'b'), (), ('a', 'b'))
    """
    if isinstance(value, str):
        value = value.split(",")
    texts = []
    for item in value[:100] if isinstance(value, list) else ():
        while isinstance(item, list) and len(item) == 1:
            item = item[0]
        if isinstance(item, str | int | float):
            texts.append(line(str(item), 200))
    return tuple(dict.fromkeys(filter(None, texts)))


def with_items(text: str, key: str, items: Iterable[str]) -> str:
    r"""Return the document with `items` added to the list `key`, as far as they are not in it yet.

    Front matter is added where there is none. Raises `GiveUp` where it cannot be read, or the list
    is written in a way that cannot be added to.

    >>> with_items("---\nrelated_tasks: [a]  # by hand\n---\n# T\n", "related_tasks", ("a", "b"))
    '---\nrelated_tasks: [a, b]  # by hand\n---\n# T\n'
    >>> with_items("# T\n", "related_tasks", ("v1:c",))
    "---\nrelated_tasks: ['v1:c']\n---\n\n# T\n"
    """
    before = items_in(frontmatter.read(text)[0].get(key))
    expected = tuple(dict.fromkeys((*before, *items_in(list(items)))))[:100]
    if expected == before:
        return text
    changed = _added(text, key, expected[len(before) :])
    if items_in(frontmatter.read(changed)[0].get(key)) != expected:
        raise GiveUp(f"{key} in the front matter cannot be added to: write it as [one, two]")
    return changed


def task_of(text: str, file: str) -> TaskFile:
    r"""Read a task file; its id is its path in the folder, its title of front matter or heading.

    What `<past-learnings>` of a section say was learned elsewhere and is left out. Raises `GiveUp`
    with the reason where the front matter is wrong.
    """
    meta, body = frontmatter.read(text)
    name = (file.partition("/")[2] or file).removesuffix(".md")
    given = meta.get("title")
    heading = _HEADING.search(body[:20_000])
    title = given if isinstance(given, str) else heading[1] if heading else name
    return TaskFile(
        id=name,
        file=file,
        title=line(title, 200) or name,
        related_tasks=items_in(meta.get(RELATED)),
        notes=notes_in(body),
        sections=tuple(_sections(body)),
        promoted=items_in(meta.get(PROMOTED)),
    )


def with_notes(text: str, notes: Notes, related: tuple[str, ...] = ()) -> str:
    """Return the file with a section at its very end and `related` among its related tasks.

    Nothing else changes, byte for byte; the very same notes are not appended twice. Raises `GiveUp`
    where there is nothing to note, the front matter is wrong, or the section could not be read back
    (a file that holds 20 sections already).
    """
    kept = normalised(notes)
    if kept.empty:
        raise GiveUp("there is nothing to note: no problem, decision or gotcha")
    linked = with_items(text, RELATED, related)
    before = notes_in(text)
    if kept in before:
        return linked
    tail = linked.replace("\r\n", "\n")[-2:]
    gap = "" if tail == "\n\n" or not linked.strip() else "\n" if tail.endswith("\n") else "\n\n"
    section = f"{gap}{rendered(kept)}\n"
    added = linked + (section.replace("\n", "\r\n") if _is_windows(text) else section)
    if notes_in(added) != (*before, kept):
        raise GiveUp(
            "notes at the end of this file would not be read: it has 20 sections already, or one "
            "that was not closed"
        )
    return added


def with_promoted(text: str, digests: tuple[str, ...]) -> str:
    """Return the file with more digests of learnings that were promoted; raises as `with_items`."""
    return with_items(text, PROMOTED, digests)


def _added(text: str, key: str, new: tuple[str, ...]) -> str:
    if _is_windows(text):
        return _added(text.replace("\r\n", "\n"), key, new).replace("\n", "\r\n")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    rest = text.removeprefix(mark)
    parts = frontmatter.parts_of(rest)
    if parts is None:
        gap = "\n" if rest.strip() else ""
        return f"{mark}---\n{with_list('', key, new)}---\n{gap}{rest}"
    changed = with_list(rest[parts.begin : parts.end], key, new)
    return mark + rest[: parts.begin] + changed + rest[parts.end :]


def _is_windows(text: str) -> bool:
    return "\r\n" in text and text.count("\r\n") == text.count("\n")


def _sections(body: str) -> Iterator[TaskSection]:
    passed, number = 0, 0
    for begins in _BEGINS.finditer(body):
        if begins.start() < passed or number >= 4 * len(SECTIONS):
            continue
        stop = min(begins.end() + SECTION, len(body))
        ends = _ENDS.search(body, begins.end(), stop)
        passed = ends.start() if ends else stop
        number += 1
        text = _PAST_LEARNINGS.sub("", body[begins.end() : passed]).strip()
        yield TaskSection(name=begins[1].lower(), text=text)


# Notes of a task file by rule: what its sections label, as `Root cause: …` or below a heading.
# Prose without labels is left to a model: a guess from single words would be filler.

MOST = 10  # problems, decisions and gotchas of one task
LONGEST = 600  # characters of one field

_NAMES = text_table("nightwatch_core.learnings", "labels.toml")
LABELS = {name: field for field, names in _NAMES.items() for name in names.split(", ")}

_SKIPPED = re.compile(
    r"<!--.*?(?:-->|\Z)|^\s{0,6}(```|~~~).*?(?:^\s{0,6}\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE
)
_ELEMENT = re.compile(r"<(/?)([a-z]+(?:-[a-z]+){0,3})>")
_LABEL = re.compile(
    r"\s*(?P<heading>#{1,6}\s+)?(?:(?:[-*+]|\d{1,3}[.)])\s+)?(?P<bold>[*_]{0,3})"
    r"(?P<name>[a-z][a-z ]{0,40})[*_]{0,3}(?P<colon>\s*:)?[*_]{0,3}(?:\s+(?P<text>\S.*))?",
    re.IGNORECASE,
)
# A label within a line: capitalised, as `Root cause:`, or it would be a word like any other.
_WITHIN = re.compile(
    r"(?<=\s)[*_]{0,3}(?:"
    + "|".join(
        f"{name[0].upper()}(?i:{name[1:]})" for name in sorted(LABELS, key=len, reverse=True)
    )
    + r")s?[*_]{0,3}\s?:[*_]{0,3}(?=\s)"
)
_MARKS = re.compile(
    r"[\s>*+_-]*(?:\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s+)?[*_]*"
)  # of a line, before its text
_SENTENCES = re.compile(r".*[.!?](?=\s)")
_LEADING = frozenset(
    {"a", "an", "and", "the", "one", "our", "its", "this", "so", "with", "by", "is"}
)
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_NOTHING = re.compile(r"(?:none|n/?a|nothing|tbd|todo|\[[^\]]*\]|no|yes|\W*)\W*", re.IGNORECASE)


def task_notes(task: TaskFile, on: date) -> Notes:
    """Draw the problems, decisions and gotchas that a task's sections label; empty for none.

    A problem needs two of its fields: what the task is for is none by itself. A field that the last
    problem or decision has already begins another.
    """
    problems: list[dict[str, object]] = []
    decisions: list[dict[str, object]] = []
    gotchas: list[str] = []
    text = "\n\n".join(section.text[:SECTION] for section in task.sections)
    for field, items in _labelled(text):
        held = problems if field in Problem.model_fields else decisions
        if field == "gotcha":
            gotchas += items
        elif field in ("what", "choice"):
            held += ({field: item} for item in items)
        else:
            if not held or field in held[-1]:
                held.append({})
            several = ", " if field == "alternatives" else "; "
            value = tuple(items) if field == "symptoms" else several.join(items)[:LONGEST]
            held[-1][field] = value
    drawn = (Problem.model_validate(item) for item in problems if len(item) > 1)
    chosen = (Decision.model_validate(item) for item in decisions if "choice" in item)
    return normalised(
        Notes(
            timestamp=on,
            problems=tuple(dict.fromkeys(drawn))[:MOST],
            decisions=tuple(dict.fromkeys(chosen))[:MOST],
            gotchas=tuple(dict.fromkeys(gotchas))[:MOST],
        )
    )


def _labelled(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the field that each label names, with what stands behind or below the label.

    A field ends with the next label, heading or bold word with a colon. `<gotcha>x</gotcha>` is a
    label with its text.
    """

    def as_label(tag: re.Match[str]) -> str:
        name = tag[2].replace("-", " ")
        return f"\n# {name}:\n" if _named(name) and not tag[1] else "\n"

    field, rows = "", list[str]()
    plain = _ELEMENT.sub(as_label, _SKIPPED.sub("", text))
    parts = (part for row in plain.split("\n") for part in _at_labels(row))
    for row in (*parts, "# end"):
        label = _LABEL.fullmatch(row)
        is_label = label and (label["heading"] or label["colon"])
        name = _named(label["name"]) if label and is_label else ""
        if name or row.lstrip().startswith("#") or (label and label["bold"] and label["colon"]):
            items = [item for item in _items(rows) if not _NOTHING.fullmatch(item)]
            if field and items:
                yield field, items
            field, rows = name, [label["text"] or ""] if label else []
        else:
            rows.append(row)


def _at_labels(row: str) -> Iterator[str]:
    """Split a line before each label that stands within it; code and headings stay whole.

    Words that only lead to a label are left out.

    >>> [*_at_labels("So the Problem: sums are off. One Cause: `Fix: no`, rates; Fix: ask.")]
    ['Problem: sums are off.', 'Cause: `Fix: no`, rates', 'Fix: ask.']
    """
    begin, marks = 0, _MARKS.match(row)
    first = marks.end() if marks else 0
    for label in () if row.lstrip().startswith("#") else _WITHIN.finditer(row):
        if label.start() > first and row.count("`", 0, label.start()) % 2 == 0:
            head = _LABEL.fullmatch(row[begin : label.start()])
            is_labelled = bool(head and head["colon"] and _named(head["name"]))
            if said := _without_lead(row[begin : label.start()], is_labelled=is_labelled):
                yield said
            begin = label.start()
    yield row[begin:]


def _without_lead(text: str, *, is_labelled: bool) -> str:
    """Return what stands before a label without the words that lead to it."""
    whole = _SENTENCES.match(text)
    kept = whole[0] if whole else text if is_labelled else ""
    for _ in range(3):
        kept = kept.rstrip(" \t;,–—")
        last = kept.rpartition(" ")[2]
        kept = kept.removesuffix(last) if last.lower() in _LEADING else kept
    return kept


def _named(name: str) -> str:
    name = " ".join(name.lower().split())
    return LABELS.get(name) or LABELS.get(name.removesuffix("s"), "")


def _items(rows: list[str]) -> list[str]:
    text = dedent("\n".join(rows)).strip()
    if not _ITEM.match(text):
        return [line(text.partition("\n\n")[0], LONGEST)] if text else []
    items: list[str] = []
    for row in text.split("\n"):
        if found := _ITEM.match(row):
            items.append(row[found.end() :])
        else:
            items[-1] += f" {row.strip()}"
    return [line(item, LONGEST) for item in items]
