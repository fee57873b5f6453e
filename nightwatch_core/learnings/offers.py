"""Offer learnings to a person, write them into CLAUDE.md, and draft the pull request.

CLAUDE.md is loaded by every agent that works in a repository, so a sentence there is an order.
Notes were drawn from production errors, code, and conversations: whoever can cause an error can try
to have a sentence written. That is why nothing here writes by itself. Learnings are proposed to
people, one by one and in full, and only what a person chose is added; it stays one line of escaped
prose of bounded length, which can open no heading, code block or comment, and imports no file.

Fixes may never touch a file that instructs agents (`code/edit_policy.py`). This is the one
exception: it does not go through the plans of a night, and changes no other path.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Commit
from nightwatch_core.models.knowledge import FAILED, MERGED, Lesson, Notes, TaskFile
from nightwatch_core.models.proposals import DraftPull, FileChange, LearningKind, LearningOffer
from nightwatch_core.publish.expected_value import effect_key
from nightwatch_core.text.escaping import MORE, line, markdown, title
from nightwatch_core.text.markers import LABEL, marker
from nightwatch_core.text.plain_text import plural
from nightwatch_core.text.words import stem

PATH = "CLAUDE.md"
FINGERPRINT = "promotion"  # of no error
HEADLINE = 100  # characters of a learning's first part
LEARNING = 300  # characters of the rest
OFFERS = 200

_UNSOLVED = ("None yet", "Proposed, then ")  # how a solution begins that is none
_FINGERPRINT = re.compile(r"v\d+:([0-9a-f]{8,})")
_JUDGED: tuple[str, ...] = (*MERGED, "verified", *FAILED)  # outcomes of a fix


def offers(
    lessons: Iterable[Lesson], tasks: Iterable[TaskFile], claude_md: str
) -> tuple[LearningOffer, ...]:
    """List learnings that were not promoted yet and still hold, numbered from 1, newest first.

    Those that CLAUDE.md, or an offer before them, says already come last, with number 0 and the
    text they duplicate. At most `OFFERS`.
    """
    found: list[LearningOffer] = []
    for lesson in filter(still_holds, lessons):
        match = _FINGERPRINT.fullmatch(lesson.fingerprint)
        source = match[1][:8] if match else line(lesson.fingerprint, 60)
        found += _new(lesson.notes, source, lesson.fingerprint, lesson.promoted)
    for task in tasks:
        found += _new(task.notes, line(task.id, 60), task.id, task.promoted)
    found.sort(key=lambda o: (-o.on.toordinal() if o.on else 0, not o.text, o.document))
    existing = [(text, line(text, 160)) for text in statements(claude_md)]
    free: list[LearningOffer] = []
    refused: list[LearningOffer] = []
    for offer in found[:OFFERS]:
        text = offer.text if _is_cut(offer) else f"{offer.headline} {offer.text}".strip()
        entry = statements(list_entry(offer))[:1]
        same = (shown for old, shown in existing if old in entry or say_the_same(text, old))
        if duplicate := next(same, ""):
            refused.append(offer.model_copy(update={"duplicate_of": duplicate}))
        else:
            free.append(offer.model_copy(update={"number": len(free) + 1}))
            existing.append((text, f"number {len(free)}, {line(text, 160)}"))
    return (*free, *refused)


def with_offers(claude_md: str, chosen: tuple[LearningOffer, ...]) -> str:
    """Add the chosen offers under `## Learnings` of CLAUDE.md; everything else stays as it is.

    Choosing twice changes nothing more. Raises `GiveUp` where the file leaves a code block or a
    comment open.
    """
    for offer in chosen:
        claude_md = with_entry(claude_md, f"{offer.kind.capitalize()}s", list_entry(offer))
    return claude_md


def list_entry(offer: LearningOffer) -> str:
    """Write an offer as one line of a list.

    >>> list_entry(LearningOffer(number=1, kind="gotcha", headline="Edge has no fs",
    ...             text="Use KV instead.", source="task-abc123"))
    '- **Edge has no fs** - Use KV instead. (from task-abc123)'
    """
    headline = markdown(offer.headline, HEADLINE, as_written=True) or "Learning"
    text = markdown(line(offer.text, LEARNING), LEARNING, as_written=True)
    parts = () if _is_cut(offer) else (f"**{headline}**",)
    content = " - ".join((*parts, *((text,) if text else ())))
    source = markdown(offer.source, 80, as_written=True) or "unknown"
    when = f", {offer.on.isoformat()}" if offer.on else ""
    return f"- {content} (from {source}{when})"


def still_holds(lesson: Lesson) -> bool:
    """Tell whether a lesson can be learned from: it knows a cause, its code stayed, no fix failed.

    A fix that was merged after another one had been turned down makes up for it.
    """
    if lesson.stale or not lesson.has_cause:
        return False
    outcomes = [event.kind for event in lesson.outcomes if event.kind in _JUDGED]
    proposed = [item.outcome for item in lesson.proposed if item.outcome in _JUDGED]
    last = (outcomes or proposed or [""])[-1]
    verdict = lesson.watch.verdict if lesson.watch else ""
    return {last, lesson.outcome, verdict}.isdisjoint(FAILED)


def numbered_offers(offered: tuple[LearningOffer, ...]) -> tuple[LearningOffer, ...]:
    """Return the offers that can be chosen."""
    return tuple(offer for offer in offered if offer.number)


def chosen_offers(typed: str, offered: tuple[LearningOffer, ...]) -> tuple[LearningOffer, ...]:
    """Return the offers behind "1,3", "all", "" or "none", each once, in the order of the list.

    Raises `GiveUp` with the numbers that exist for anything else.

    >>> chosen_offers("none", ())
    ()
    """
    free = {str(offer.number): offer for offer in numbered_offers(offered)}
    words = typed.replace(",", " ").lower().split()
    if words in ([], ["none"]):
        return ()
    if words == ["all"]:
        return tuple(free.values())
    if wrong := [line(word, 20) for word in words if word not in free]:
        advice = f"there are 1 to {len(free)}" if len(free) > 1 else "there is only 1"
        advice = f"{advice}; or say all or none" if free else "there is nothing to promote"
        raise GiveUp(f"{', '.join(wrong[:5])} cannot be chosen: {advice}")
    return tuple(offer for number, offer in free.items() if number in words)


def promotion_pull(
    chosen: tuple[LearningOffer, ...], text: str, commit: Commit, night: str
) -> DraftPull:
    """Build the draft that gives CLAUDE.md this text; raises `GiveUp` for an empty choice."""
    if not chosen:
        raise GiveUp("nothing was chosen: a pull request without learnings is none")
    key = effect_key("promote", commit.repository, *sorted(offer.digest for offer in chosen))
    subject = title(f"Learnings for CLAUDE.md: {chosen[0].headline}", 100)
    more = f" and {len(chosen) - 1} more" if len(chosen) > 1 else ""
    named = "\n".join(f"- {title(offer.headline, 100)}" for offer in chosen)
    note = (
        f"A person chose {plural(len(chosen), 'learning')} from NightWatch's notes for `{PATH}`. "
        "The notes were drawn from production errors and work on them, which is untrusted input: "
        "agents will follow what stands there, so read each line as you would an order to them."
    )
    entries = "\n".join(map(list_entry, chosen))
    return DraftPull(
        key=key,
        fingerprint=FINGERPRINT,
        branch=f"nightwatch/{key[:12]}",
        base=commit.branch,
        title=title(f"{subject}{more}"),
        body=f"{marker(FINGERPRINT, key, night)}\n\n{note}\n\n{entries}\n",
        commit_message=f"Add learnings to {PATH}\n\n{named}\n",
        changes=(FileChange(path=PATH, text=text),),
        commit=commit.sha,
        labels=(LABEL,),
    )


def _new(
    notes: tuple[Notes, ...], source: str, document: str, promoted: tuple[str, ...]
) -> Iterator[LearningOffer]:
    for section in notes:
        for kind, first, rest in _condensed(section):
            headline, text = line(first, HEADLINE).rstrip(" .:;-"), line(rest, LEARNING)
            if headline.endswith(MORE):  # too long for a headline: the text says it in full
                text = line(f"{first} {rest}", LEARNING)
            content = "\n".join((kind, headline, text))
            digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]
            if re.search(r"\w", headline) and digest not in promoted:
                yield LearningOffer(
                    number=0,
                    kind=kind,
                    headline=headline,
                    text=text,
                    source=source,
                    document=document,
                    on=section.timestamp,
                    digest=digest,
                )


def _condensed(notes: Notes) -> Iterator[tuple[LearningKind, str, str]]:
    """Yield each learning as what it says and what explains it; no problem without a remedy."""
    for problem in notes.problems:
        solution = "" if problem.solution.startswith(_UNSOLVED) else problem.solution
        reasons = [problem.root_cause, problem.prevention or solution]
        sentences = [reason.strip().rstrip(".") for reason in reasons if reason.strip()]
        if sentences and sentences != [problem.what.strip().rstrip(".")]:
            yield "problem", problem.what, f"{'. '.join(sentences)}."
    for gotcha in notes.gotchas:
        is_pair = gotcha.count(" - ") == 1
        first, _, rest = gotcha.partition(" - ") if is_pair else (gotcha, "", "")
        yield "gotcha", first, rest[:1].upper() + rest[1:]
    for decision in notes.decisions:
        instead = decision.alternatives and f"Instead of: {decision.alternatives}"
        yield "decision", decision.choice, decision.rationale or instead


def _is_cut(offer: LearningOffer) -> bool:
    start = offer.headline.removesuffix(MORE).rstrip()
    return offer.headline.endswith(MORE) and bool(start) and offer.text.startswith(start)


# CLAUDE.md as text: nothing but the new lines changes, byte for byte.

SECTION = "Learnings"
COMMENT = "<!-- Auto-generated by `nightwatch promote`. Do not edit directly. -->"
GROUPS = ("Problems", "Gotchas", "Decisions")
STATEMENTS = 2_000  # that are read
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_LISTED = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_NESTED = r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)]|>)[ \t]+)*"
_FENCE = re.compile(_NESTED + r"(`{3,}(?=[^`]*$)|~{3,})")
_COMMENT = re.compile(_NESTED + "<!--")
_ORIGIN = re.compile(r"\s*\(from [^()]{1,120}\)\s*$")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)")


class Heading(NamedTuple):
    """A heading's level, its words in lower case, and its line."""

    level: int
    name: str
    line: int


def with_entry(text: str, group: str, entry: str) -> str:
    """Add an entry (a list item on one line) to `group` of the learnings.

    A text that has the very entry there stays as it is. Raises `GiveUp` where a code block or a
    comment is never closed: what is added below it would be a part of it.
    """
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    headings = [
        Heading(len(found[1]), (found[2] or "").strip().lower(), number)
        for number, row in enumerate(_prose(lines))
        if row is not None and (found := _HEADING.match(row))
    ]
    section = next((h for h in headings if (h.level, h.name) == (2, SECTION.lower())), None)
    if section is None:
        new = [f"## {SECTION}", "", COMMENT, "", f"### {group}", "", entry]
        return _inserted(lines, len(lines), new)
    end = _end(headings, section, len(lines))
    groups = {h.name: h for h in reversed(headings) if section.line < h.line < end and h.level == 3}
    if own := groups.get(group.lower()):
        last = _end(headings, own, end)
        is_there = any(row.strip() == entry for row in lines[own.line : last])
        return text if is_there else _inserted(lines, last, [entry])
    later = (groups.get(name.lower()) for name in GROUPS[GROUPS.index(group) + 1 :])
    before = min((heading.line for heading in later if heading), default=end)
    return _inserted(lines, before, [f"### {group}", "", entry])


def statements(text: str) -> tuple[str, ...]:
    """Return a text's list items, paragraphs and sentences of long paragraphs."""
    blocks: list[list[str]] = [[]]
    for row in _prose(text.splitlines(), strict=False):
        if row is None or not row.strip() or _HEADING.match(row):
            blocks.append([])
        elif item := _LISTED.match(row):
            blocks.append([row[item.end() :]])
        else:
            blocks[-1].append(row)
    texts: list[str] = []
    for block in filter(None, blocks):
        statement = _ORIGIN.sub("", " ".join(" ".join(block).split()))
        sentences = _SENTENCE.split(statement)
        texts += [statement, *(sentences if len(sentences) > 2 else ())]
    return tuple(dict.fromkeys(filter(None, texts)))[:STATEMENTS]


def _prose(lines: list[str], *, strict: bool = True) -> list[str | None]:
    """Lines without their ends; None for those within code and comments."""
    rows: list[str | None] = []
    fence, comment, opened = "", False, 0
    for number, raw in enumerate(lines, 1):
        row = raw.removesuffix("\n").removesuffix("\r").removeprefix("\ufeff" * (number == 1))
        rows.append(None)
        if fence:
            bare = row.strip().lstrip(">").strip()
            fence = "" if len(bare) >= len(fence) and not bare.strip(fence[0]) else fence
        elif comment:
            comment = "-->" not in row
        elif found := _FENCE.match(row):
            fence, opened = found[1], number
        elif found := _COMMENT.match(row):
            comment, opened = "-->" not in row[found.end() :], number
        else:
            rows[-1] = row
    if strict and (fence or comment):
        what = "a code block" if fence else "a comment"
        raise GiveUp(f"CLAUDE.md: {what} that begins in line {opened} is never closed: close it")
    return rows


def _end(headings: list[Heading], own: Heading, most: int) -> int:
    after = (h.line for h in headings if h.line > own.line and h.level <= own.level)
    return min(next(after, most), most)


def _inserted(lines: list[str], before: int, new: list[str]) -> str:
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    while before and not lines[before - 1].strip():
        before -= 1
    head, tail = "".join(lines[:before]), "".join(lines[before:])
    unended = bool(head) and not head.endswith("\n")
    lead = end * (2 if unended else 1) if head.removeprefix("\ufeff") else ""
    close = "" if unended and not tail else end
    gap = end if tail and lines[before].strip() else ""
    return f"{head}{lead}{end.join(new)}{close}{gap}{tail}"


# Learnings that say the same, by their words and by the code that they name.

SAME = 0.6  # share of their words that two texts with the same words have in common
COMPARED = 4_000  # characters of each text
WORDS = 200  # of each text
_WORD = re.compile(r"[^\W_]+(?:[._'’][^\W_]+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DENYING = """aren't avoid can't cannot couldn't didn't doesn't don't forbid forbidden impossible
isn't lacks mustn't never no none not shouldn't unavailable without won't wouldn't"""
_DENIALS = frozenset(_DENYING.split())
_ESCAPED = re.compile(r"\\([^\w\s]|_)")  # as Markdown writes a plain character
_SPAN = re.compile(r"`+([^`]{1,300})`+")
_CODE = re.compile(r"\w[./:#]+\w|^/\w|_|\d|[a-z][A-Z]")  # in a word that names code


def say_the_same(text: str, other: str) -> bool:
    """Tell whether two texts say the same about the very same code.

    Two sentences with the same words and another name in them are two facts.
    """
    return have_same_words(text, other) and identifiers(text) == identifiers(other)


def have_same_words(text: str, other: str) -> bool:
    """Tell whether texts share enough of their words (Dice's coefficient), and both deny or none.

    >>> have_same_words("Missing index", "an index is missing")
    True
    >>> have_same_words("Retry on timeouts", "Never retry on timeouts")
    False
    """
    words, others = _words(text), _words(other)
    own = frozenset(filter(None, map(stem, words - _DENIALS)))
    theirs = frozenset(filter(None, map(stem, others - _DENIALS)))
    agree = words.isdisjoint(_DENIALS) == others.isdisjoint(_DENIALS)
    return agree and 2 * len(own & theirs) >= SAME * max(len(own) + len(theirs), 1)


def identifiers(text: str) -> frozenset[str]:
    """Return identifiers of a text: backticked words, and words with the signs of code in them."""
    plain = _ESCAPED.sub(r"\1", text[:COMPARED])
    spans = (_bare(word) for span in _SPAN.findall(plain) for word in span.split())
    prose = map(_bare, _SPAN.sub(" ", plain).split())
    return frozenset((*spans, *filter(_CODE.search, prose))) - {""}


def _bare(word: str) -> str:
    return word.strip("\"'“”‘’()[]{}<>*,;:.!?…").removesuffix("'s").removesuffix("’s")


def _words(text: str) -> frozenset[str]:
    spaced = _CAMEL.sub(" ", text[:COMPARED].replace("’", "'"))
    return frozenset(word[0].lower() for word in islice(_WORD.finditer(spaced), WORDS))
