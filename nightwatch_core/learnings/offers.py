"""Offer learnings to a person, write them for CLAUDE.md, and draft the pull request.

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

from nightwatch_core.errors import GiveUp
from nightwatch_core.learnings.claude_md import statements, with_entry
from nightwatch_core.learnings.likeness import say_the_same
from nightwatch_core.models.code import Commit
from nightwatch_core.models.knowledge import FAILED, MERGED, Lesson, Notes, Problem, TaskFile
from nightwatch_core.models.proposals import DraftPull, FileChange, LearningKind, LearningOffer
from nightwatch_core.publish.expected_value import effect_key
from nightwatch_core.text.escaping import MORE, line, markdown, title
from nightwatch_core.text.markers import LABEL, marker
from nightwatch_core.text.plain_text import plural

PATH = "CLAUDE.md"
FINGERPRINT = "promotion"  # of no error
HEADLINE = 100  # characters of a learning's first sentence
LEARNING = 300  # characters below it
OFFERS = 200

_SENTENCE = re.compile(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<=[.!?…])\s+(?=[^\W\d_]|`)")
_UNSOLVED = ("None yet", "Proposed, then ")  # how a solution begins that is none
_FINGERPRINT = re.compile(r"v\d+:([0-9a-f]{8,})")
_JUDGED: tuple[str, ...] = (*MERGED, "verified", *FAILED)  # outcomes of a fix
_GROUPS: dict[LearningKind, str] = {
    "problem": "Problems",
    "gotcha": "Gotchas",
    "decision": "Decisions",
}


def offers(
    lessons: Iterable[Lesson], tasks: Iterable[TaskFile], claude_md: str
) -> tuple[LearningOffer, ...]:
    """List learnings that were not promoted yet and still hold, numbered from 1, newest first.

    Those that CLAUDE.md, or an offer before them, says already come last, with number 0 and the
    text they duplicate. At most `OFFERS`.
    """
    found: list[LearningOffer] = []
    for lesson in filter(still_holds, lessons):
        name = lesson.fingerprint
        found += _new(lesson.notes, short_name(name), name, lesson.promoted)
    for task in tasks:
        found += _new(task.notes, line(task.id, 60), task.id, task.promoted)
    found.sort(key=lambda o: (-o.on.toordinal() if o.on else 0, not o.text, o.document))
    existing = [(text, line(text, 160)) for text in statements(claude_md)]
    free: list[LearningOffer] = []
    refused: list[LearningOffer] = []
    for offer in found[:OFFERS]:
        headline = "" if _is_cut(offer) else _ended(offer.headline)
        text, entry = f"{headline} {offer.text}".strip(), statements(list_entry(offer))[:1]
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
        claude_md = with_entry(claude_md, _GROUPS[offer.kind], list_entry(offer))
    return claude_md


def list_entry(offer: LearningOffer) -> str:
    """Write an offer as one line of a list.

    >>> list_entry(LearningOffer(number=1, kind="gotcha", headline="Edge has no fs",
    ...             text="Use KV instead.", source="task-abc123"))
    '- **Edge has no fs** - Use KV instead. (from task-abc123)'
    """
    headline = markdown(offer.headline.rstrip(" .:;-"), HEADLINE, as_written=True) or "Learning"
    text = markdown(_ended(line(offer.text, LEARNING)), LEARNING, as_written=True)
    parts = () if _is_cut(offer) else (f"**{headline}**",)
    content = " - ".join((*parts, *((text,) if text else ())))
    source = markdown(offer.source, 80, as_written=True) or "unknown"
    when = f", {offer.on.isoformat()}" if offer.on else ""
    return f"- {content} (from {source}{when})"


def short_name(fingerprint: str) -> str:
    """Shorten a fingerprint for people; other names stay.

    >>> short_name("v1:aef927d4bcba742d"), short_name("task-abc123")
    ('aef927d4', 'task-abc123')
    """
    match = _FINGERPRINT.fullmatch(fingerprint)
    return match[1][:8] if match else line(fingerprint, 60)


def still_holds(lesson: Lesson) -> bool:
    """Tell whether a lesson can be learned from: it knows a cause, its code stayed, no fix failed.

    A fix that was merged after another one had been turned down makes up for it.
    """
    if lesson.stale or not lesson.has_cause:
        return False
    fates = [fate.kind for fate in lesson.fates if fate.kind in _JUDGED]
    proposed = [item.outcome for item in lesson.proposed if item.outcome in _JUDGED]
    last = (fates or proposed or [""])[-1]
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
        there = f"there are 1 to {len(free)}" if len(free) > 1 else "there is only 1"
        there = f"{there}; or say all or none" if free else "there is nothing to promote"
        raise GiveUp(f"{', '.join(wrong[:5])} cannot be chosen: {there}")
    return tuple(offer for number, offer in free.items() if number in words)


def promotion_pull(
    chosen: tuple[LearningOffer, ...], text: str, commit: Commit, night: str
) -> DraftPull:
    """Build the draft whose one commit gives CLAUDE.md this text; named by what was chosen.

    Raises `GiveUp` for an empty choice.
    """
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
        for kind, (headline, text) in _condensed(section):
            content = "\n".join((kind, " ".join(headline.split()), " ".join(text.split())))
            digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]
            if headline and digest not in promoted:
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


def _condensed(notes: Notes) -> Iterator[tuple[LearningKind, tuple[str, str]]]:
    for problem in notes.problems:
        if (told := _of_problem(problem))[1]:
            yield "problem", told
    for gotcha in notes.gotchas:
        first, _, rest = gotcha.partition(" - ")
        is_pair = rest and " - " not in rest and len(_SENTENCE.split(first)) == 1
        yield "gotcha", _shaped(first, rest[:1].upper() + rest[1:]) if is_pair else _shaped(gotcha)
    for decision in notes.decisions:
        instead = decision.alternatives and f"Instead of: {decision.alternatives}"
        yield "decision", _shaped(decision.choice, *_leading(decision.rationale or instead))


def _of_problem(problem: Problem) -> tuple[str, str]:
    solution = "" if problem.solution.startswith(_UNSOLVED) else problem.solution
    return _shaped(problem.what, *_leading(problem.root_cause, problem.prevention or solution))


def _leading(*texts: str) -> list[str]:
    """The first sentence of each text; of a single text, its first two."""
    told = [line(text, 2 * LEARNING) for text in texts if text.strip()]
    return [part for text in told for part in _SENTENCE.split(text)[: 2 if len(told) == 1 else 1]]


def _shaped(text: str, *more: str) -> tuple[str, str]:
    """A headline of one sentence and as many whole sentences as there is room for, each once.

    A sentence too long for a headline is cut there, and begins the text in full.
    """
    told = [sentence for each in (text, *more) for sentence in _SENTENCE.split(line(each, 400))]
    words = ((" ".join(re.findall(r"\w+", sentence.lower())), sentence) for sentence in told)
    unique: dict[str, str] = {}
    for key, sentence in words:
        unique.setdefault(key, _ended(sentence))
    unique.pop("", None)
    first, *rest = unique.values() or [""]
    headline = first.rstrip(" .:;-")
    if len(headline) > HEADLINE:
        headline, rest = line(headline, HEADLINE), [first, *rest]
    kept = ""
    for sentence in rest:
        if len(kept) + len(sentence) >= LEARNING:
            break
        kept = f"{kept} {sentence}".strip()
    return headline, kept or line(" ".join(rest), LEARNING)


def _is_cut(offer: LearningOffer) -> bool:
    start = offer.headline.removesuffix(MORE).rstrip()
    return offer.headline.endswith(MORE) and bool(start) and offer.text.startswith(start)


def _ended(sentence: str) -> str:
    has_end = not sentence or sentence.endswith((".", "!", "?", MORE))
    return sentence if has_end else f"{sentence}."
