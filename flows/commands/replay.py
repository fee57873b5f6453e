"""`nightwatch replay`: a night again, from its bundle alone, and what would have been otherwise."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.text import Text

from flows.commands.running import complain, make_prefect_ready, plain_console, show
from flows.commands.sign_of_life import sign_of_life
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.bundle import Bundle
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import EXIT_CODES, RunReport
from nightwatch_core.replay.differences import counts, differences
from nightwatch_core.replay.sealing import decided
from nightwatch_core.settings import night_options
from nightwatch_core.text.escaping import line
from tasks.dependencies import using
from tasks.wiring import replaying

Named = Annotated[
    str, typer.Argument(metavar="BUNDLE", help="A bundle's file, or its night; empty: the newest.")
]
With = Annotated[
    list[str] | None,
    typer.Option("--with", help="Another option than the night's: max_prs=5, model=rules, agent=…"),
]
Live = Annotated[
    bool, typer.Option("--live", help="Ask the model where the record ends; that costs money.")
]
Report = Annotated[bool, typer.Option("--report", help="Show the replayed night's report, too.")]

SHORT = {"max_prs": "max_pull_requests"}  # what people call an option
SIGN = "Running the night again (Prefect takes some 15 s to start) …"
SHOWN = 8  # questions without an answer that are listed


def replay(
    bundle: Named = "", changed: With = None, live: Live = False, report: Report = False
) -> None:
    """Run a night again from its bundle: offline, writing nothing, through the real flow.

    Exit code: 0 where it decides the same, byte by byte, or where --with changed something; 3
    where it decides something else.
    """
    try:
        sealed, changes = replaying.bundle_named(bundle), read_changes(changed or ())
        again = play(sealed, changes, live)
    except NightWatchError as trouble:
        complain(trouble)
    if report and again.report:
        show(again.report)
    console = plain_console()
    for text in lines(sealed, again, changes):
        console.print(Text(text))
    raise SystemExit(0 if changes or again.is_equal else EXIT_CODES["degraded"])


class Again(NamedTuple):
    """What came of a replay."""

    decisions: Any
    is_equal: bool
    differences: tuple[str, ...]
    missed: tuple[str, ...]  # questions that the night never asked
    report: RunReport | None


def play(sealed: Bundle, changes: Mapping[str, str], live: bool) -> Again:
    """Run the night again; raises `StopTheNight` where it cannot even begin."""
    was = sealed.manifest
    models = replaying.live_models(was.options) if live else None
    with replaying.elsewhere(sealed) as state:
        given = was.options.model_dump(exclude_none=True)
        options = night_options({**given, **changes})
        night = was.night.model_copy(update={"given": (*was.night.given, *changes)})
        ports, record = replaying.dependencies(sealed, night, models, options.model)
        make_prefect_ready(state, verbose=False)
        with using(ports), sign_of_life(Console(stderr=True), SIGN):
            report = _run(options)
        other = replaying.sealed_again(night)
        decisions = decided(other)
    return Again(
        decisions=decisions,
        is_equal=other.manifest.decided == was.decided,
        differences=differences(decided(sealed), decisions),
        missed=tuple(dict.fromkeys(record.missed)),
        report=report,
    )


def read_changes(given: Iterable[str]) -> dict[str, str]:
    """Return options by name; raises `StopTheNight` for what is none.

    >>> read_changes(["max_prs=5", "model = rules"])
    {'max_pull_requests': '5', 'model': 'rules'}
    """
    pairs = [text.partition("=") for text in given]
    named = {SHORT.get(name.strip(), name.strip()): value.strip() for name, _, value in pairs}
    if wrong := sorted(named.keys() - NightOptions.model_fields.keys()):
        raise StopTheNight(f"--with {wrong[0]}: no option is called so, see `nightwatch night -h`")
    return named


def lines(sealed: Bundle, again: Again, changes: Mapping[str, str]) -> Iterator[str]:
    """What is to be said of a replay."""
    before = counts(decided(sealed))
    if changes:
        yield f"With {', '.join(f'{name}={value}' for name, value in changes.items())}:"
        yield f"  that night: {before}"
        yield f"  now:        {counts(again.decisions)}"
    elif again.is_equal:
        yield f"Equal: {before}; decisions {sealed.manifest.decided[:12]}, byte by byte."
    else:
        yield f"Not equal: {before}; now {counts(again.decisions)}."
    yield from (f"  {text}" for text in again.differences)
    if again.missed:
        yield f"The record ends here ({len(again.missed)} questions that night never asked):"
        yield from (f"  {line(text)}" for text in again.missed[:SHOWN])
    yield from (f"Missing in the bundle: {line(text)}" for text in sealed.manifest.missing)


def _run(options: NightOptions) -> RunReport | None:
    """The night's report; None where it stopped, which is in its decisions."""
    from flows.nightly import nightly

    try:
        report: RunReport = nightly(**options.model_dump(exclude_none=True))
    except NightWatchError:
        return None
    return report
