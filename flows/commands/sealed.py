"""Show, verify and compare the bundles of nights."""

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from flows.commands.memory import NightName
from flows.commands.night import OfNight, make_prefect_ready, plain_console, sign_of_life
from flows.commands.night import show as show_running
from flows.commands.values import AsJson, print_json
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.journal.decisions import counts, differences
from nightwatch_core.journal.pieces import joined
from nightwatch_core.journal.reader import NightJournal
from nightwatch_core.journal.requests import body_of, sent_requests
from nightwatch_core.journal.sealing import decided
from nightwatch_core.models.journal import Bundle, SentRequest
from nightwatch_core.models.report import EXIT_CODES, SINGLE_RUN, RunReport
from nightwatch_core.settings import settings
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import moment, plural
from nightwatch_core.text.transcript_text import shown
from tasks import wiring
from tasks.wiring import journals, replays
from tasks.wiring.opening import OpenNight

Named = Annotated[
    str,
    typer.Argument(metavar="BUNDLE", help="Bundle file, or name of its night; empty: the newest."),
]
Target = Annotated[str, typer.Argument(metavar="FILE", help="File to write.")]
Report = Annotated[bool, typer.Option("--report", help="Also show the report of the replay.")]
STARTING = "Replaying the night (Prefect takes about 15 s to start) …"
SHOWN = 8  # new questions that are listed


def replay(bundle: Named = "", report: Report = False) -> None:
    """Replay a night from its bundle, offline, and compare its decisions. Publishes nothing.

    Exit code: 0 if the decisions are equal, 3 if they differ.
    """
    sealed = journals.bundle_named(settings(), bundle)
    manifest = sealed.manifest
    if manifest.night.id.startswith(SINGLE_RUN):
        raise StopTheNight(f"{manifest.night.id} is a run of one error: only nights are replayed")
    with replays.environment(sealed) as at:
        make_prefect_ready(at.state, verbose=False)
        night, record = replays.opened(sealed, manifest.options, at)
        with sign_of_life(Console(stderr=True), STARTING):
            replayed = _run(night)
        other = journals.bundle_named(at, manifest.night.id)
    if report and replayed:
        show_running(replayed)
    before, after = decided(sealed), decided(other)
    is_equal = other.manifest.decided == manifest.decided
    lines = [f"Not equal: {counts(before)}; now {counts(after)}."]
    if is_equal:
        lines = [f"Equal: {counts(before)}; digest of the decisions: {manifest.decided[:12]}."]
    lines += [f"  {text}" for text in differences(before, after)]
    if missed := tuple(dict.fromkeys(record.missed)):
        lines.append(f"Requests that the bundle has no answer for ({len(missed)}):")
        lines += [f"  {line(text)}" for text in missed[:SHOWN]]
    lines += [f"Missing in the bundle: {line(text)}" for text in manifest.missing]
    plain_console().print(Text("\n".join(lines)))
    raise SystemExit(0 if is_equal else EXIT_CODES["degraded"])


def _run(night: OpenNight) -> RunReport | None:
    """Return the report; None if the night stopped, which its decisions say."""
    from flows.replay import replay_night

    try:
        return replay_night(night)
    except NightWatchError:
        return None


Questions = Annotated[
    str, typer.Option("--asked", help="Print recorded questions as JSON: model, errors, code@…")
]

bundle = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=(__doc__ or "").strip())


@bundle.command()
def show(bundle: Named = "", asked: Questions = "", as_json: AsJson = False) -> None:
    """Verify a bundle and show its contents."""
    sealed, console = journals.bundle_named(settings(), bundle), plain_console()
    if asked:
        for item in sealed.manifest.asked:
            if item.name.startswith(asked):
                print(json.dumps(joined(item.model_dump(mode="json"), sealed.pieces)))
    elif as_json:
        print_json(sealed.manifest.model_copy(update={"asked": (), "decisions": None}))
    else:
        _print_facts(console, sealed)


@bundle.command()
def export(night: NightName, file: Target) -> None:
    """Write what was written down of a night into one file, to be replayed elsewhere."""
    sealed = journals.export_bundle(settings(), night, Path(file))
    print(f"{file}: {counts(decided(sealed))}")


def _print_facts(console: Console, sealed: Bundle) -> None:
    was = sealed.manifest
    chosen = was.options.model_dump(exclude_defaults=True)
    kinds = Counter(re.split("[@.]", item.name)[0] for item in was.asked)
    rows = (
        ("Night", f"{was.night.id}, until {moment(was.night.window.until)}"),
        ("Made", f"{moment(was.made)} by NightWatch {was.program}, in {plural(was.runs, 'run')}"),
        ("Digest", sealed.root),
        ("Decisions", was.decided),
        ("Size", f"{sealed.bytes:,} bytes, {sealed.text:,} unpacked, {len(sealed.pieces)} pieces"),
        ("Options", ", ".join(f"{name}={value}" for name, value in chosen.items())),
        ("Asked", ", ".join(f"{count} of {name}" for name, count in sorted(kinds.items()))),
        ("Decided", counts(decided(sealed))),
        ("Missing", "; ".join(was.missing)),
    )
    for name, text in rows:
        if text:
            console.print(Text(f"{name:<10} {line(text, 2_000)}"))


# `nightwatch manifest`

Which = Annotated[
    int, typer.Option("--text", min=0, help="Number of the request whose text to print.")
]
Others = Annotated[bool, typer.Option("--others", help="List requests sent outside nights.")]
DIGITS = 12  # digits of a hash


def manifest(
    night: NightName = "", text: Which = 0, others: Others = False, as_json: AsJson = False
) -> None:
    """List the requests that a night sent to other services, or print one."""
    name = "" if others else _name(night)
    journal = journals.journal_of(settings(), name)
    requests = sent_requests(journal)
    if text:
        _print_text(journal, requests, text)
    elif as_json:
        print_json(requests)
    else:
        _list(requests, "outside nights" if others else f"in {name}")


def _list(requests: tuple[SentRequest, ...], when: str) -> None:
    console = plain_console()
    for number, request in enumerate(requests, 1):
        size = f"{request.bytes:>11,} B" if request.bytes else " " * 13
        digest = request.sha256[:DIGITS].ljust(DIGITS)
        what = line(f"{request.service}: {request.method} {request.to}", 1_000)
        at = f"{request.at:%Y-%m-%d %H:%M:%S}"
        console.print(f"{number:>5}  {at}  {size}  {digest}  {what}", markup=False)
    total = sum(request.bytes for request in requests)
    counted = (
        f"{plural(len(requests), 'request')} with {total:,} bytes"
        if requests
        else "No requests were"
    )
    console.print(f"{counted} sent to other services {when}.", markup=False)


def _name(night: str) -> str:
    """Return the night of that name, or the newest; raises `StopTheNight` for an unknown one."""
    kept = [item.id for item in wiring.nights(settings()).history()]
    name = night or next((item for item in kept if not item.startswith("one-")), "")
    if name not in kept:
        raise StopTheNight(f"no night {night[:80]!r} was found: see `nightwatch history`")
    return name


def _print_text(journal: NightJournal, requests: tuple[SentRequest, ...], number: int) -> None:
    """Print the bytes that were sent; a terminal gets no control characters."""
    found = requests[number - 1 : number]
    sent = body_of(journal, found[0]) if found else b""
    if not sent:
        raise StopTheNight(f"request {number} has no text: see the list")
    if found[0].masked:
        print(
            "this text is redacted; the text that was sent was not, so the hash differs",
            file=sys.stderr,
        )
    if sys.stdout.isatty():
        plain_console().print(block(sent.decode(errors="replace"), len(sent)), markup=False)
    else:
        sys.stdout.buffer.write(sent)


# `nightwatch transcript`

Fingerprint = Annotated[str, typer.Argument(help="Fingerprint of the error, or its beginning.")]
Full = Annotated[bool, typer.Option("--full", help="Show full texts and the system prompt.")]


def transcript(fingerprint: Fingerprint, night: OfNight = "", full: Full = False) -> None:
    """Print the latest conversation with the model about an error."""
    transcript = journals.transcript(settings(), fingerprint.strip(), night.strip())
    console = plain_console()
    for part in shown(transcript, full):
        console.print(Text(part.text, part.style))
