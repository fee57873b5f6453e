"""`nightwatch bundle`: what a night's bundle holds, whether it is whole, and how two differ."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from flows.commands.replay import Named
from flows.commands.running import complain, plain_console
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.bundle import Bundle
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import EXIT_CODES
from nightwatch_core.replay.differences import counts, differences
from nightwatch_core.replay.pieces import joined
from nightwatch_core.replay.sealing import decided
from nightwatch_core.text.escaping import line
from nightwatch_core.text.units import moment
from tasks.wiring.replaying import bundle_named

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
        for one in sealed.manifest.asked:
            if one.name.startswith(asked):
                print(json.dumps(joined(one.model_dump(mode="json"), sealed.pieces)))
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
    names = sorted({one.name.partition("@")[0].partition(".")[0] for one in was.asked})
    kinds = {name: sum(one.name.startswith(name) for one in was.asked) for name in names}
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
