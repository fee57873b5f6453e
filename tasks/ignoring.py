"""Doors for `nightwatch ignore`: the team's rules, what a night suggested, and accepting one."""

from datetime import date
from typing import NamedTuple

from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.default_ports import SAMPLE, is_sample
from nightwatch_core.intake.ignore_file import day_from
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.pattern import IgnoreRule, IgnoreRules, IgnoreSuggestion
from nightwatch_core.models.report import RunReport
from nightwatch_core.patterns.ignoring.backtest import SINGLE_RUN
from nightwatch_core.patterns.ignoring.suggestions import rule_of
from nightwatch_core.text.escaping import line
from tasks.wiring import ignore_file, nights

NEVER = "never"
_LONGEST_REASON = 300


class Standing(NamedTuple):
    """The team's rules today."""

    path: str
    rules: IgnoreRules
    today: date


class Accepted(NamedTuple):
    """What became of a rule: added, renewed, or already there; `rule` as it stands in the file."""

    path: str
    status: str
    rule: IgnoreRule


def standing(sample: bool) -> Standing:
    """The rules that nights on real errors follow, or nights on the sample."""
    file = ignore_file(_options(sample))
    return Standing(str(file.path), file.rules(), file.today())


def night_of(name: str, sample: bool) -> RunReport:
    """The night of that name, else the newest one; raises `StopTheNight` where there is none."""
    for report in nights().reports():
        if report.night.id == name:
            return report
        real = is_sample(report.options) == sample and not report.night.id.startswith(SINGLE_RUN)
        if real and not name:
            return report
    if name:
        raise StopTheNight(f"no night {name[:80]!r} was kept: see `nightwatch history`")
    raise StopTheNight(f"no night was kept yet: run `nightwatch night{' --sample' * sample}`")


def accept(number: int, night: str, sample: bool, reason: str, expires: str) -> Accepted:
    """Write suggestion `number` of a night, as its report counts them, into ignore.yml.

    `reason` and `expires` replace what was suggested, where they are not empty; a rule that "never"
    expires names no day. Raises `StopTheNight` for a number, day or file that cannot be used.
    """
    file = ignore_file(_options(sample))
    suggestion = _numbered(night_of(night, sample), number)
    rule = rule_of(suggestion).model_copy(
        update={
            "reason": line(reason or suggestion.reason, _LONGEST_REASON),
            "expires": _last_day(expires, suggestion, file.today()),
        }
    )
    added = file.add(rule)
    return Accepted(str(file.path), added.status, added.rule)


def _numbered(report: RunReport, number: int) -> IgnoreSuggestion:
    found = report.learned.suggestions
    if 1 <= number <= len(found):
        return found[number - 1]
    are = "is 1 suggestion" if len(found) == 1 else f"are {len(found)} suggestions"
    raise StopTheNight(
        f"night {report.night.id} has no suggestion {number}, there {are}: "
        "see `nightwatch ignore suggestions`"
    )


def _last_day(said: str, suggestion: IgnoreSuggestion, today: date) -> date | None:
    if said.strip().lower() == NEVER:
        return None
    day = day_from(said.strip()) if said else suggestion.expires
    if said and day is None:
        raise StopTheNight(f"--expires {said[:60]!r} is no day: write 2031-12-31, or never")
    if day is not None and day < today:
        raise StopTheNight(f"{day} is over: name a day with --expires, or never")
    return day


def _options(sample: bool) -> NightOptions:
    return NightOptions(source=SAMPLE if sample else "file")
