"""`nightwatch ignore`: the team's ignore rules, what nights suggested, and accepting one."""

from datetime import date
from typing import Annotated

import typer
from rich.text import Text

from flows.commands.running import OfNight, Sample, plain_console
from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.default_ports import SAMPLE, is_sample
from nightwatch_core.intake.ignore_file import day_from
from nightwatch_core.intake.ignore_rules import expired, summary
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.pattern import IgnoreSuggestion
from nightwatch_core.models.report import RunReport
from nightwatch_core.patterns.ignore_suggestions.backtest import SINGLE_RUN
from nightwatch_core.patterns.ignore_suggestions.suggestions import rule_from
from nightwatch_core.report.learned import backtest_sentence
from nightwatch_core.text.escaping import line
from tasks.wiring import ignore_file, nights

NEVER = "never"
LONGEST_REASON = 300  # characters

ignore = typer.Typer(
    help="Errors that are left alone: rules, suggestions, and accepting one.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
Number = Annotated[int, typer.Argument(help="Number of the suggestion, as the report counts them.")]
Reason = Annotated[str, typer.Option(help="Why nobody needs to know; empty: as suggested.")]
Expires = Annotated[
    str, typer.Option(help="Last day, as 2031-12-31, or never; empty: as suggested.")
]


@ignore.callback()
def _group() -> None:
    """Errors that are left alone: rules, suggestions, and accepting one."""


@ignore.command("list")
def list_rules(sample: Sample = False) -> None:
    """List the rules: which hold, which have expired, and what cannot be read."""
    file, console = ignore_file(_options(sample)), plain_console()
    held = file.rules()
    console.print(Text(str(file.path), "bold"))
    for rule in held.rules:
        over = expired(rule, file.today())
        state = "expired" if over else "holds"
        console.print(Text(f"line {rule.line}: {state}: {summary(rule)}", "dim" if over else ""))
    for complaint in held.complaints:
        console.print(Text(f"not read: {line(complaint, 400)}", "red"))
    if not held.rules and not held.complaints:
        console.print("There is no rule.")


@ignore.command()
def suggestions(night: OfNight = "", sample: Sample = False) -> None:
    """Show the rules that a night suggested, with what speaks for them."""
    report, console = _report(night.strip(), sample), plain_console()
    console.print(Text(f"Night {report.night.id}", "bold"))
    for number, each in enumerate(report.learned.suggestions, 1):
        console.print(Text(f"{number}. {summary(rule_from(each))}", "bold"))
        console.print(Text(f"   {line(each.evidence, 600)}"))
        console.print(Text(f"   back-test: {backtest_sentence(each.backtest)}", "dim"))
    if report.learned.suggestions:
        console.print(Text(f"Accept one: nightwatch ignore accept 1 --night {report.night.id}"))
    else:
        console.print("It suggested nothing.")


@ignore.command()
def accept(
    number: Number,
    night: OfNight = "",
    reason: Reason = "",
    expires: Expires = "",
    sample: Sample = False,
) -> None:
    """Write a suggested rule into ignore.yml; everything else in it stays as it is."""
    file, console = ignore_file(_options(sample)), plain_console()
    suggestion = _numbered(_report(night.strip(), sample), number)
    rule = rule_from(suggestion).model_copy(
        update={
            "reason": line(reason or suggestion.reason, LONGEST_REASON),
            "expires": _last_day(expires, suggestion, file.today()),
        }
    )
    added = file.add(rule)
    console.print(Text(f"{added.status}: {summary(added.rule)}", "bold"))
    console.print(Text(f"{file.path} line {added.rule.line}"))


def _report(name: str, sample: bool) -> RunReport:
    """The night of that name, else the newest one; raises `StopTheNight` where there is none."""
    for report in nights().reports():
        if report.night.id == name:
            return report
        of_kind = is_sample(report.options) == sample
        if of_kind and not name and not report.night.id.startswith(SINGLE_RUN):
            return report
    if name:
        raise StopTheNight(f"no night {name[:80]!r} was kept: see `nightwatch history`")
    raise StopTheNight(f"no night was kept yet: run `nightwatch night{' --sample' * sample}`")


def _numbered(report: RunReport, number: int) -> IgnoreSuggestion:
    suggested = report.learned.suggestions
    if 1 <= number <= len(suggested):
        return suggested[number - 1]
    are = "is 1 suggestion" if len(suggested) == 1 else f"are {len(suggested)} suggestions"
    raise StopTheNight(
        f"night {report.night.id} has no suggestion {number}, there {are}: "
        "see `nightwatch ignore suggestions`"
    )


def _last_day(text: str, suggestion: IgnoreSuggestion, today: date) -> date | None:
    """The rule's last day: the one that was typed, else the suggested one; None: it never ends."""
    if text.strip().lower() == NEVER:
        return None
    day = day_from(text.strip()) if text else suggestion.expires
    if text and day is None:
        raise StopTheNight(f"--expires {text[:60]!r} is no day: write 2031-12-31, or never")
    if day is not None and day < today:
        raise StopTheNight(f"{day} is over: name a day with --expires, or never")
    return day


def _options(sample: bool) -> NightOptions:
    return NightOptions(source=SAMPLE if sample else "file")
