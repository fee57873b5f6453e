"""`nightwatch bundle`: what a night's bundle holds, whether it is whole, and how two differ."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.text import Text

from flows.commands.memory import NightName
from flows.commands.night import OfNight, complain, make_prefect_ready, plain_console, sign_of_life
from flows.commands.night import show as show_running
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.manifest import SentRequest
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import EXIT_CODES, Bundle, RunReport
from nightwatch_core.replay.players import counts, differences
from nightwatch_core.replay.record import joined
from nightwatch_core.replay.sealing import decided
from nightwatch_core.settings import night_options
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import moment, plural
from nightwatch_core.text.transcript_text import shown
from tasks.dependencies import using
from tasks.wiring import nights, transcripts
from tasks.wiring import recording as replaying
from tasks.wiring.manifest import sent_requests
from tasks.wiring.recording import bundle_named

# `nightwatch replay`: a night again, from its bundle alone, and what would have been otherwise.

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
        show_running(again.report)
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


Questions = Annotated[
    str,
    typer.Option("--asked", help="Questions whose name begins so, as JSON: model, errors, code@…"),
]
Decisions = Annotated[bool, typer.Option("--decisions", help="The decisions, as JSON.")]

bundle = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=(__doc__ or "").strip())


@bundle.command()
def show(bundle: Named = "", asked: Questions = "", decisions: Decisions = False) -> None:
    """Show what a bundle holds; it is verified first."""
    sealed, console = _read(bundle), plain_console()
    if decisions:
        print(json.dumps(decided(sealed), indent=1, ensure_ascii=True))
    elif asked:
        for item in sealed.manifest.asked:
            if item.name.startswith(asked):
                print(json.dumps(joined(item.model_dump(mode="json"), sealed.pieces)))
    else:
        _print_facts(console, sealed)


@bundle.command()
def verify(bundle: Named = "") -> None:
    """Verify that nothing in a bundle was changed. Exit code: 0 whole, 1 changed or unreadable."""
    sealed = _read(bundle)
    plain_console().print(
        Text(f"Whole: {len(sealed.pieces)} pieces, digest {sealed.root}, {sealed.bytes:,} bytes.")
    )


@bundle.command()
def diff(first: Named, second: Named) -> None:
    """Show what two nights decided in different ways. Exit code: 0 nothing, 3 something."""
    one, other = decided(_read(first)), decided(_read(second))
    console, found = plain_console(), differences(one, other)
    console.print(Text(f"{counts(one)}\n{counts(other)}"))
    for text in found or ("They decided the same.",):
        console.print(Text(text))
    raise SystemExit(EXIT_CODES["degraded"] if found else 0)


def _print_facts(console: Console, sealed: Bundle) -> None:
    was, plain = sealed.manifest, NightOptions()
    chosen = {
        name: value
        for name, value in was.options.model_dump().items()
        if value != getattr(plain, name)
    }
    names = sorted({item.name.partition("@")[0].partition(".")[0] for item in was.asked})
    kinds = {name: sum(item.name.startswith(name) for item in was.asked) for name in names}
    rows = (
        ("Night", f"{was.night.id}, until {moment(was.night.window.until)}"),
        ("Made", f"{moment(was.made)} by NightWatch {was.program}, in {was.runs} runs"),
        ("Digest", sealed.root),
        ("Decisions", was.decided),
        ("Size", f"{sealed.bytes:,} bytes, {sealed.text:,} unpacked, {len(sealed.pieces)} pieces"),
        ("Options", ", ".join(f"{name}={value}" for name, value in chosen.items())),
        ("Asked", ", ".join(f"{count} of {name}" for name, count in kinds.items())),
        ("Decided", counts(decided(sealed))),
        ("Missing", "; ".join(was.missing)),
    )
    for name, text in rows:
        if text:
            console.print(Text(f"{name:<10} {line(text, 2_000)}"))


def _read(name: str) -> Bundle:
    try:
        return bundle_named(name)
    except NightWatchError as trouble:
        complain(trouble)


# `nightwatch manifest`: what left this machine in a night, to whom, and every byte of it.

Which = Annotated[
    str, typer.Option("--text", help="Print what was sent: a number of the list, or a hash.")
]
Others = Annotated[bool, typer.Option("--others", help="What was sent outside nights.")]
SHOWN_MANIFEST = 12  # digits of a hash


def manifest(night: NightName = "", text: Which = "", others: Others = False) -> None:
    """List every request that left this machine, or print what one of them said."""
    name = "" if others else _name(night)
    requests = sent_requests().of(name)
    if text:
        _print_text(requests, text)
    else:
        _list(requests, "outside nights" if others else f"in {name}")


def _list(requests: tuple[SentRequest, ...], when: str) -> None:
    console = plain_console()
    for number, request in enumerate(requests, 1):
        size = f"{request.bytes:>11,} B" if request.bytes else " " * 13
        digest = request.sha256[:SHOWN_MANIFEST].ljust(SHOWN_MANIFEST)
        what = line(f"{request.service}: {request.method} {request.to}", 1_000)
        at = f"{request.at:%Y-%m-%d %H:%M:%S}"
        console.print(f"{number:>5}  {at}  {size}  {digest}  {what}", markup=False)
    total = sum(request.bytes for request in requests)
    counted = f"{plural(len(requests), 'request')} with {total:,} bytes left this machine"
    console.print(f"{counted if requests else 'Nothing left this machine'} {when}.", markup=False)


def _name(night: str) -> str:
    """The night that is meant; raises `StopTheNight` where there is none."""
    known = [item.id for item in nights().history()]
    wanted = night or next((item for item in known if not item.startswith("one-")), "")
    if wanted not in known:
        raise StopTheNight(f"no night {night[:80]!r} was kept: see `nightwatch history`")
    return wanted


def _print_text(requests: tuple[SentRequest, ...], wanted: str) -> None:
    """Every byte as it was sent; on a terminal without what would steer it."""
    is_number = re.fullmatch(r"[0-9]{1,6}", wanted) and int(wanted) <= len(requests)
    meant = (
        requests[int(wanted) - 1 : int(wanted)]
        if is_number
        else [
            request
            for request in requests
            if request.sha256 and request.sha256.startswith(wanted.lower())
        ]
    )
    if not meant or not (sent := sent_requests().text(meant[0])):
        raise StopTheNight(f"no text of {wanted[:80]!r}: the list says which there are")
    if meant[0].masked:
        print("masked here, not where it was sent: its hash will not fit", file=sys.stderr)
    if sys.stdout.isatty():
        plain_console().print(block(sent.decode(errors="replace"), len(sent)), markup=False)
    else:
        sys.stdout.buffer.write(sent)


# `nightwatch transcript`: what was said between us and the model about one error.

Fingerprint = Annotated[str, typer.Argument(help="Fingerprint of the error, or its beginning.")]
Full = Annotated[bool, typer.Option("--full", help="Show texts whole, and the system prompt.")]


def transcript(fingerprint: Fingerprint, night: OfNight = "", full: Full = False) -> None:
    """Print the newest conversation about an error."""
    transcript = transcripts().find(fingerprint.strip(), night.strip())
    console = plain_console()
    for part in shown(transcript, full):
        console.print(Text(part.text, part.style))
