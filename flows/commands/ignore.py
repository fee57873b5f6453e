"""`nightwatch ignore`: the team's ignore rules, what nights suggested, and accepting one."""

import sys
from io import TextIOWrapper
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

ignore = typer.Typer(
    help="Errors that are left alone: rules, suggestions, and accepting one.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Sample = Annotated[bool, typer.Option("--sample", help="Of nights on the sample.")]
OfNight = Annotated[str, typer.Option("--night", help="Of this night; empty: the newest one.")]
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
    from nightwatch_core.intake.ignore_rules import expired, summary
    from nightwatch_core.text.escaping import line
    from tasks.ignoring import standing

    now, console = standing(sample), _console()
    console.print(Text(now.path, "bold"))
    for rule in now.rules.rules:
        over = expired(rule, now.today)
        state = "expired" if over else "holds"
        console.print(Text(f"line {rule.line}: {state}: {summary(rule)}", "dim" if over else ""))
    for complaint in now.rules.complaints:
        console.print(Text(f"not read: {line(complaint, 400)}", "red"))
    if not now.rules.rules and not now.rules.complaints:
        console.print("There is no rule.")


@ignore.command()
def suggestions(night: OfNight = "", sample: Sample = False) -> None:
    """Show the rules that a night suggested, with what speaks for them."""
    from nightwatch_core.intake.ignore_rules import summary
    from nightwatch_core.patterns.ignoring.suggestions import rule_of
    from nightwatch_core.report.memory import backtested
    from nightwatch_core.text.escaping import line
    from tasks.ignoring import night_of

    report, console = night_of(night.strip(), sample), _console()
    console.print(Text(f"Night {report.night.id}", "bold"))
    for number, each in enumerate(report.learned.suggestions, 1):
        console.print(Text(f"{number}. {summary(rule_of(each))}", "bold"))
        console.print(Text(f"   {line(each.evidence, 600)}"))
        console.print(Text(f"   back-test: {backtested(each.backtest)}", "dim"))
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
    from nightwatch_core.intake.ignore_rules import summary
    from tasks.ignoring import accept as accepted

    done, console = accepted(number, night.strip(), sample, reason, expires), _console()
    console.print(Text(f"{done.status}: {summary(done.rule)}", "bold"))
    console.print(Text(f"{done.path} line {done.rule.line}"))


def _console() -> Console:
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Console(soft_wrap=True, highlight=False)
