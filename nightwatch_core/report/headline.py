"""The night in one line: what a healthy night achieved first, what it lacks after it."""

from collections.abc import Callable, Iterator
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
    night = tally(report)
    of_the_tail = tail_headline(report)
    if of_the_tail[0] and night.status != "failed":
        return Headline(*of_the_tail)
    return next(line for write in HEADLINES if (line := write(night)))


def _failed(night: Tally) -> Headline | None:
    if night.status != "failed":
        return None
    if not night.errors:
        return Headline(NOTHING_CAME)
    analysed = f", {night.analysed:,} of them analysed" if night.analysed else ""
    return Headline(
        f"The night failed after {plural(night.errors, 'error group')} had been read{analysed}."
    )


def _nothing_read(night: Tally) -> Headline | None:
    if night.errors or night.cases or night.failed or night.starved or night.seen_before:
        return None
    if night.status == "degraded":
        return Headline(NOTHING_READ)
    return Headline(UNREADABLE, "nothing readable") if night.rejects else Headline(CALM, "calm")


def _all_known(night: Tally) -> Headline | None:
    """Nothing is missing where nothing was analysed: the memory did its work."""
    if not _is_untouched(night) or not night.seen_before or night.beyond or night.ended:
        return None
    are = "are" if night.seen_before > 1 else "is"
    text = f"{_all_of_them(night)} {are} known, {_causes_of(night)}: nothing new to analyse"
    return Headline(_joined(text, ", ".join(_published(night)), *_rest(night)), "nothing new")


def _all_of_them(night: Tally) -> str:
    """The groups that are known, as a part of what there was.

    >>> _all_of_them(Tally(status="complete", errors=5, known=5))
    'All 5 error groups'
    >>> _all_of_them(Tally(status="degraded", errors=2, known=1, ignored=1))
    'The only error group that was read and is not ignored'
    """
    count, many = night.seen_before, night.seen_before > 1
    only = (
        ("were read" if many else "was read") if night.status == "degraded" else "",
        ("are not ignored" if many else "is not ignored") if night.ignored else "",
    )
    which = f" that {' and '.join(filter(None, only))}" if any(only) else ""
    whole = count + night.ignored >= night.errors
    all_of = ("All {} error groups" if many else "The only error group").format(f"{count:,}")
    return (all_of if whole else plural(count, "error group")) + which


def _causes_of(night: Tally) -> str:
    if not night.known:
        return "without a cause yet" if night.waiting == 1 else "none with a cause yet"
    if night.waiting:
        return f"{night.known:,} with a cause, {night.waiting:,} without"
    return "with its cause" if night.known == 1 else "each with its cause"


def _rest_waits(night: Tally) -> Headline | None:
    """Known ones and ones that had to wait, nothing between: by the limits of this night."""
    if not _is_untouched(night) or not night.seen_before:
        return None
    known = f"{night.seen_before:,} of {plural(night.errors, 'error group')}"
    are = "is" if night.seen_before == 1 else "are"
    text = f"{known} {are} known, {_causes_of(night)}; no other was analysed"
    return Headline(_joined(text, ", ".join(_published(night)), *_rest(night)), "no new cause")


def _all_ignored(night: Tally) -> Headline | None:
    if not _is_untouched(night) or night.ignored < night.errors:
        return None
    all_of_them = (
        f"All {night.ignored:,} error groups are" if night.errors > 1 else "The only error group is"
    )
    text = f"{all_of_them} ignored, by the team or by a rule: nothing to analyse"
    others = night.model_copy(update={"ignored": 0})
    return Headline(_joined(text, *_rest(others)), "nothing to analyse")


def _all_left_out(night: Tally) -> Headline | None:
    if not _is_untouched(night):
        return None
    text = f"None of {plural(night.errors, 'error group')} was analysed"
    return Headline(_joined(text, *_rest(night)), "nothing analysed")


def _none_came_about(night: Tally) -> Headline | None:
    if night.cases:
        return None
    known = f", {night.seen_before:,} known" if night.seen_before else ""
    text = f"No analysis came about of {plural(night.errors, 'error group')}{known}"
    others = night.model_copy(update={"known": 0, "waiting": 0})
    return Headline(_joined(text, *_rest(others)), "no analysis came about")


def _nothing_explained(night: Tally) -> Headline | None:
    if night.explained or night.guessed:
        return None
    others = night.model_copy(update={"unknown": 0})
    text = f"{_analysed(night)}, no cause found"
    return Headline(_joined(text, ", ".join(_published(night)), *_rest(others)), "no cause found")


def _explained(night: Tally) -> Headline | None:
    results = ", ".join((*_causes_found(night), *_published(night)))
    brief = f"{plural(night.explained, 'cause')} found" if night.explained else "no sure cause"
    return Headline(_joined(f"{_analysed(night)}: {results}", *_rest(night)), brief)


def _analysed(night: Tally) -> str:
    groups = plural(max(night.errors, night.analysed), "error group")
    whole = night.analysed >= night.errors
    which = ("All " * (night.analysed > 1) if whole else f"{night.analysed:,} of ") + groups
    cases = f" in {plural(night.cases, 'case')}" if night.analysed > night.cases else ""
    return f"{which} analysed{cases}"


HEADLINES: tuple[Callable[[Tally], Headline | None], ...] = (
    _failed,
    _nothing_read,
    _all_known,
    _rest_waits,
    _all_ignored,
    _all_left_out,
    _none_came_about,
    _nothing_explained,
    _explained,
)
"""Asked in this order; the first that has something to say says it."""


def _is_untouched(night: Tally) -> bool:
    return not (night.cases or night.failed or night.starved)


def _causes_found(night: Tally) -> Iterator[str]:
    unsure = "with an unsure one" if night.explained else "with an unsure cause"
    for count, text in (
        (night.explained, f"{night.explained:,} with a root cause"),
        (night.guessed, f"{night.guessed:,} {unsure}"),
        (night.fixes, f"{plural(night.fixes, 'fix', 'fixes')} proposed"),
    ):
        if count:
            yield text


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
    is_all_known = _is_untouched(night)
    for count, text in (
        (night.unknown, "without a known cause"),
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


def _joined(*parts: str) -> str:
    return " · ".join(filter(None, parts))
