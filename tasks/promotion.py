"""Doors for `nightwatch promote`: what is offered, and what becomes of a person's choice."""

from collections.abc import Mapping
from typing import NamedTuple

from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.intake.default_ports import RULES, SAMPLE, is_sample
from nightwatch_core.learnings.promoting import PATH, offers, promoted, pull_of
from nightwatch_core.models.code import Commit
from nightwatch_core.models.error import Window
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.learning import Destination, LearningOffer, Promotion
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import Receipt
from nightwatch_core.models.report import Night
from nightwatch_core.settings import night_options
from tasks.readers import lessons_in
from tasks.wiring import chosen, publishing, reading, task_shelf, working_copy

NOBODY_READS = "-"  # a source needs a name; promoting reads no errors
NOTHING_LEFT = "There is nothing to promote."


class Offered(NamedTuple):
    """The offers, and the file they would be added to."""

    offers: tuple[LearningOffer, ...]
    before: str | None  # CLAUDE.md as it is; None: there is none
    to: Destination
    commit: Commit | None  # it was read at; None: in the working tree


def promotion_options(choices: Mapping[str, object], sample: bool) -> NightOptions:
    """The options under which code is read and the outbox is made; errors are not read."""
    source = {"source": SAMPLE} if sample else {"source": "file", "errors": NOBODY_READS}
    local = {"model": RULES, "notify": "local"}
    return chosen(night_options({**choices, **source, **local}))


def offered(options: NightOptions, to: Destination | None) -> Offered:
    """What can be promoted, and where to; nothing is written.

    Raises `StopTheNight` where the checkout is wanted and none is named.
    """
    where = to or _usual(options)
    commit = None if where == "checkout" else reading(options).code.head()
    before = _read(options, commit)
    lessons = lessons_in(reading(options).knowledge)
    tasks = () if is_sample(options) else task_shelf().tasks()
    return Offered(offers(lessons, tasks, before or ""), before, where, commit)


def promote(options: NightOptions, found: Offered, picked: tuple[LearningOffer, ...]) -> Promotion:
    """Add what a person picked to CLAUDE.md, and remember that it was."""
    if not picked:
        left = any(one.number for one in found.offers)
        said = "Nothing was chosen, nothing was changed." if left else NOTHING_LEFT
        return Promotion(done=True, said=said)
    text = promoted(found.before or "", picked)
    if found.commit is None:
        path = working_copy(options).write(PATH, text, found.before)
        said = f"Added to {path}; commit it when you like." if path else "Held back: a dry run."
        return _remembered(
            options, Promotion(chosen=picked, place=path, done=bool(path), said=said)
        )
    night = _no_night(options)
    pull = pull_of(picked, text, found.commit, night.id)
    receipt = publishing(options).outbox(night).publish(pull)
    return _remembered(options, _told(receipt, picked))


def _usual(options: NightOptions) -> Destination:
    return "checkout" if options.code == "checkout" and options.delivery == "local" else "pull"


def _read(options: NightOptions, commit: Commit | None) -> str | None:
    if commit is not None:
        return reading(options).code.reader(commit).read_file(PATH)
    if not options.repo:
        raise StopTheNight("--to checkout needs --repo: the git checkout to write CLAUDE.md into")
    return working_copy(options).read(PATH)


def _no_night(options: NightOptions) -> Night:
    now = reading(options).clock.now()
    return Night(id=f"promote-{now:%Y%m%d-%H%M%S}", window=Window(since=now, until=now), now=now)


def _told(receipt: Receipt, picked: tuple[LearningOffer, ...]) -> Promotion:
    done = receipt.status in ("done", "already there")
    known = "was there already" if receipt.status == "already there" else "is open"
    said = {
        "held back": "Held back: a dry run.",
        "refused": f"Refused: {receipt.reason}",
        "unknown": f"Nobody knows whether it was published ({receipt.reason}): say it again.",
    }.get(receipt.status, f"Draft pull request #{receipt.number} {known}: {receipt.url}")
    return Promotion(chosen=picked, place=receipt.url, done=done, said=said)


def _remembered(options: NightOptions, made: Promotion) -> Promotion:
    """Keep the digests with what they came from; a trouble there undoes nothing."""
    if not made.done:
        return made
    documents = dict.fromkeys(one.document for one in made.chosen)
    troubles = []
    for document in documents:
        digests = tuple(one.digest for one in made.chosen if one.document == document)
        try:
            _remember(options, document, digests)
        except NightWatchError as trouble:
            troubles.append(f"{document}: {trouble}")
    if not troubles:
        return made
    told = "; ".join(("It will be offered again, because it could not be remembered", *troubles))
    return made.model_copy(update={"said": f"{made.said} {told}"})


def _remember(options: NightOptions, document: str, digests: tuple[str, ...]) -> None:
    lesson = _lesson(options, document)
    if lesson is None:
        task_shelf().mark_promoted(document, digests)
        return
    kept = tuple(dict.fromkeys((*lesson.promoted, *digests)))
    publishing(options).knowledge.write(lesson.model_copy(update={"promoted": kept}))


def _lesson(options: NightOptions, fingerprint: str) -> Lesson | None:
    knowledge = reading(options).knowledge
    entries = knowledge.index().solutions
    entry = next((one for one in entries if one.fingerprint == fingerprint), None)
    return knowledge.read(entry.file) if entry else None
