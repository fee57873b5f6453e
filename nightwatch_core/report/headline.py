"""The night in one line: what a healthy night achieved first, what it lacks after it."""

from collections.abc import Iterator
from typing import NamedTuple

from nightwatch_core.models.report import RunReport
from nightwatch_core.report.builder import Tally, tally
from nightwatch_core.report.sections import tail_headline
from nightwatch_core.text.plain_text import plural

NOTHING_CAME = "The night failed before any error had been read: nothing could be analysed."
CALM = "A calm night: no errors in the window."
NOTHING_READ = "No error could be read, but the answer is incomplete: the reasons are above."
UNREADABLE = "No error group was found, but some records could not be read."


class Headline(NamedTuple):
    """The night in one line, and in the few words that a title has room for."""

    text: str
    brief: str = ""  # empty where the status says enough


def headline(report: RunReport) -> str:
    """Return the night in one line; never "0 errors" where the source gave no usable answer."""
    return _headline(report).text


def in_short(report: RunReport) -> str:
    """Return the night's result in two or three words; empty where the status is enough."""
    return _headline(report).brief


def _headline(report: RunReport) -> Headline:
    batch = tail_headline(report)
    return Headline(*batch) if batch[0] and report.status != "failed" else of_night(tally(report))


def of_night(night: Tally) -> Headline:
    """Return the headline of a night's numbers."""
    if night.status == "failed":
        if not night.errors:
            return Headline(NOTHING_CAME)
        analysed = f", {night.analysed:,} of them analysed" if night.analysed else ""
        groups = plural(night.errors, "error group")
        return Headline(f"The night failed after {groups} had been read{analysed}.")
    if not (night.errors or night.cases or night.failed or night.starved or night.seen_before):
        if night.status == "degraded":
            return Headline(NOTHING_READ)
        return Headline(UNREADABLE, "nothing readable") if night.rejects else Headline(CALM, "calm")
    with_published = ", ".join((_analysed(night), *_published(night)))
    return Headline(" · ".join((with_published, *_rest(night))), _brief(night))


def _analysed(night: Tally) -> str:
    """Return how many groups were analysed, and what was found.

    >>> _analysed(Tally(status="complete", errors=5, analysed=2, cases=1, explained=1, fixes=1))
    '2 of 5 error groups analysed in 1 case: 1 with a root cause, 1 fix proposed'
    >>> _analysed(Tally(status="complete", errors=2, known=1, waiting=1))
    '2 known error groups, 1 without a cause: nothing new to analyse'
    """
    if _is_all_known(night):
        waiting = f", {night.waiting:,} without a cause" if night.waiting else ""
        return f"{plural(night.seen_before, 'known error group')}{waiting}: nothing new to analyse"
    groups = plural(max(night.errors, night.analysed), "error group")
    if not night.cases:
        return f"None of {groups} was analysed"
    whole = night.analysed >= night.errors
    which = ("All " * (night.analysed > 1) if whole else f"{night.analysed:,} of ") + groups
    cases = f" in {plural(night.cases, 'case')}" if night.analysed > night.cases else ""
    unsure = "with an unsure one" if night.explained else "with an unsure cause"
    found = (
        f"{night.explained:,} with a root cause" if night.explained else "",
        f"{night.guessed:,} {unsure}" if night.guessed else "",
        f"{plural(night.fixes, 'fix', 'fixes')} proposed" if night.fixes else "",
    )
    return f"{which} analysed{cases}: {', '.join(filter(None, found)) or 'no cause found'}"


def _is_all_known(night: Tally) -> bool:
    """Tell whether nothing is missing where nothing was analysed: the memory did its work."""
    others = night.cases or night.failed or night.starved or night.beyond or night.ended
    return bool(night.seen_before and not others)


def _brief(night: Tally) -> str:
    if night.explained:
        return f"{plural(night.explained, 'cause')} found"
    results = (
        ("no sure cause", night.guessed),
        ("no cause found", night.cases),
        ("no analysis came about", night.failed or night.starved),
        ("nothing new", _is_all_known(night)),
        ("no new cause", night.seen_before),
        ("nothing to analyse", night.ignored >= night.errors),
    )
    return next((words for words, holds in results if holds), "nothing analysed")


def _published(night: Tally) -> Iterator[str]:
    for count, text in (
        (night.pulls, plural(night.pulls, *night.draft)),
        (night.issues, plural(night.issues, "issue")),
        (night.reopened, f"{plural(night.reopened, 'issue')} reopened"),
        (night.comments, plural(night.comments, "comment")),
    ):
        if count:
            yield text


def _rest(night: Tally) -> Iterator[str]:
    is_all_known = _is_all_known(night)
    for count, text in (
        (night.unknown * bool(night.explained or night.guessed), "without a known cause"),
        (night.known * (not is_all_known), "known"),
        (night.waiting * (not is_all_known), "looked at before, cause not known"),
        (night.by_rules, "by the rules in the model's place"),
        (night.failed, "failed"),
        (night.starved, "beyond tonight's budget"),
        (night.ignored, "ignored"),
        (night.beyond, "beyond tonight's limits"),
        (night.ended, "not reached before the end"),
        (night.judged, "judged at first sight in a batch"),
        (night.submitted, "submitted in a batch"),
    ):
        if count:
            yield f"{count:,} {text}"
    for count, verb in (
        (night.verified, "verified"),
        (night.without_effect, "without effect"),
        (night.regressed, "regressed"),
    ):
        if count:
            yield f"{plural(count, 'fix', 'fixes')} {verb}"
