"""Task files: Markdown that people and their agents keep about one task, and notes at its end.

Nothing else in them is touched, byte for byte.
"""

import re
from collections.abc import Iterable, Iterator

from nightwatch_core.errors import GiveUp
from nightwatch_core.learnings.task_notes import SECTION
from nightwatch_core.memory.note_reader import normalised, notes_in, rendered
from nightwatch_core.models.knowledge import Notes, TaskFile, TaskSection
from nightwatch_core.text import frontmatter
from nightwatch_core.text.escaping import line
from nightwatch_core.text.frontmatter import with_items as with_list

_SCALAR = (str, int, float)
SECTIONS = ("research", "plan", "implementation", "ship")
RELATED, PROMOTED = "related_tasks", "promoted"  # keys of the front matter
_BEGINS = re.compile(rf"^ {{0,3}}<({'|'.join(SECTIONS)})(?:\s[^<>\n]{{0,200}})?>", re.I | re.M)
_ENDS = re.compile(
    rf"</(?:{'|'.join(SECTIONS)})>|^ {{0,3}}<(?:{'|'.join(SECTIONS)}|future-agent-notes)[\s>]",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(r"^# +(\S[^\n]{0,500})", re.MULTILINE)
_TOLD = ("<past-learnings>", "</past-learnings>")


def items_in(value: object) -> tuple[str, ...]:
    """Return the items of a list as people write one: a YAML list, or one text with commas.

    A wiki's link, `[[a]]`, is to YAML a list in a list.

    >>> items_in(["a", 7, ""]), items_in("a, b"), items_in(None), items_in([[["a"]], "b"])
    (('a', '7'), ('a', 'b'), (), ('a', 'b'))
    """
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return ()
    items = map(_without_brackets, value[:100])
    texts = (line(str(item), 200) for item in items if isinstance(item, _SCALAR))
    return tuple(dict.fromkeys(text for text in texts if text))


def _without_brackets(item: object) -> object:
    for _ in "[[":
        item = item[0] if isinstance(item, list) and len(item) == 1 else item
    return item


def with_items(text: str, key: str, items: Iterable[str]) -> str:
    r"""Return the document with `items` added to the list `key`, as far as they are not in it yet.

    Front matter is added where there is none. Raises `GiveUp` where it cannot be read, or the list
    is written in a way that cannot be added to.

    >>> with_items("---\nrelated_tasks: [a]  # by hand\n---\n# T\n", "related_tasks", ("a", "b"))
    '---\nrelated_tasks: [a, b]  # by hand\n---\n# T\n'
    >>> with_items("# T\n", "related_tasks", ("v1:c",))
    "---\nrelated_tasks: ['v1:c']\n---\n\n# T\n"
    """
    known = items_in(frontmatter.read(text)[0].get(key))
    wanted = tuple(dict.fromkeys((*known, *items_in(list(items)))))[:100]
    new = wanted[len(known) :]
    if not new:
        return text
    changed = _added(text, key, new, known)
    if items_in(frontmatter.read(changed)[0].get(key)) != wanted:
        raise GiveUp(f"{key} in the front matter cannot be added to: write it as [one, two]")
    return changed


def task_of(text: str, file: str) -> TaskFile:
    r"""Read a task file; its id is its path in the folder, its title of front matter or heading.

    What `<past-learnings>` of a section say was learned elsewhere and is left out. Raises `GiveUp`
    with the reason where the front matter is wrong.

    >>> task = task_of("---\nrelated_tasks: [a]\n---\n# Search\n<plan>\nUse FTS\n</plan>", "t/b.md")
    >>> task.id, task.title, task.related_tasks, task.sections[0].text
    ('b', 'Search', ('a',), 'Use FTS')
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

    >>> print(with_notes("# T", Notes(gotchas=("x",)), ("a",)))
    ---
    related_tasks: [a]
    ---
    <BLANKLINE>
    # T
    <BLANKLINE>
    <future-agent-notes>
      <gotchas>
        <gotcha>x</gotcha>
      </gotchas>
    </future-agent-notes>
    <BLANKLINE>
    """
    kept = normalised(notes)
    if kept.empty:
        raise GiveUp("there is nothing to note: no problem, decision or gotcha")
    linked = with_items(text, RELATED, related)
    before = notes_in(text)
    if kept in before:
        return linked
    section = f"{rendered(kept)}\n"
    windows = "\r\n" in text and text.count("\r\n") == text.count("\n")
    apart = _gap(linked)
    added = linked + (apart + section).replace("\n", "\r\n" if windows else "\n")
    if notes_in(added) != (*before, kept):
        raise GiveUp(
            "notes at the end of this file would not be read: it has 20 sections already, or one "
            "that was not closed"
        )
    return added


def with_promoted(text: str, digests: tuple[str, ...]) -> str:
    """Return the file with more digests of learnings that were promoted; raises as `with_items`."""
    return with_items(text, PROMOTED, digests)


def _added(text: str, key: str, new: tuple[str, ...], known: tuple[str, ...]) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    rest = text.removeprefix(mark)
    parts = frontmatter.parts_of(rest)
    if parts is None:
        end = "\r\n" if "\r\n" in rest[:10_000] else "\n"
        front = with_list("", key, new).replace("\n", end)
        return f"{mark}---{end}{front}---{end}{end if rest.strip() else ''}{rest}"
    front, source = rest[: parts.begin], rest[parts.begin : parts.end]
    windows = front.endswith("\r\n") and source.count("\r\n") == source.count("\n")
    source = source.replace("\r\n", "\n") if windows else source
    changed = with_list(source, key, new, known)
    return (
        mark + front + (changed.replace("\n", "\r\n") if windows else changed) + rest[parts.end :]
    )


def _sections(body: str) -> Iterator[TaskSection]:
    passed, number = 0, 0
    for begins in _BEGINS.finditer(body):
        if begins.start() < passed or number >= 4 * len(SECTIONS):
            continue
        stop = min(begins.end() + SECTION, len(body))
        ends = _ENDS.search(body, begins.end(), stop)
        passed = ends.start() if ends else stop
        number += 1
        text = _without_told(body[begins.end() : passed]).strip()
        yield TaskSection(name=begins[1].lower(), text=text)


def _without_told(text: str) -> str:
    start, end = text.find(_TOLD[0]), text.find(_TOLD[1])
    return text[:start] + text[end + len(_TOLD[1]) :] if 0 <= start < end else text


def _gap(text: str) -> str:
    """Line ends that make one empty line before what follows."""
    if not text.strip():
        return ""
    tail = text.replace("\r\n", "\n")[-2:]
    return "" if tail == "\n\n" else "\n" if tail.endswith("\n") else "\n\n"
