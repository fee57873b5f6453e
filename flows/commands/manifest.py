"""`nightwatch manifest`: what left this machine in a night, to whom, and every byte of it."""

import re
import sys
from typing import Annotated

import typer

from flows.commands.history import NightName
from flows.commands.running import plain_console
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.manifest import SentRequest
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.units import plural
from tasks.wiring import nights
from tasks.wiring.manifest import sent_requests

Which = Annotated[
    str, typer.Option("--text", help="Print what was sent: a number of the list, or a hash.")
]
Others = Annotated[bool, typer.Option("--others", help="What was sent outside nights.")]
SHOWN = 12  # digits of a hash


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
    for number, one in enumerate(requests, 1):
        size = f"{one.bytes:>11,} B" if one.bytes else " " * 13
        digest = one.sha256[:SHOWN].ljust(SHOWN)
        what = line(f"{one.service}: {one.method} {one.to}", 1_000)
        at = f"{one.at:%Y-%m-%d %H:%M:%S}"
        console.print(f"{number:>5}  {at}  {size}  {digest}  {what}", markup=False)
    total = sum(one.bytes for one in requests)
    counted = f"{plural(len(requests), 'request')} with {total:,} bytes left this machine"
    console.print(f"{counted if requests else 'Nothing left this machine'} {when}.", markup=False)


def _name(night: str) -> str:
    """The night that is meant; raises `StopTheNight` where there is none."""
    known = [one.id for one in nights().history()]
    wanted = night or next((one for one in known if not one.startswith("one-")), "")
    if wanted not in known:
        raise StopTheNight(f"no night {night[:80]!r} was kept: see `nightwatch history`")
    return wanted


def _print_text(requests: tuple[SentRequest, ...], wanted: str) -> None:
    """Every byte as it was sent; on a terminal without what would steer it."""
    is_number = re.fullmatch(r"[0-9]{1,6}", wanted) and int(wanted) <= len(requests)
    meant = (
        requests[int(wanted) - 1 : int(wanted)]
        if is_number
        else [one for one in requests if one.sha256 and one.sha256.startswith(wanted.lower())]
    )
    if not meant or not (sent := sent_requests().text(meant[0])):
        raise StopTheNight(f"no text of {wanted[:80]!r}: the list says which there are")
    if meant[0].masked:
        print("masked here, not where it was sent: its hash will not fit", file=sys.stderr)
    if sys.stdout.isatty():
        plain_console().print(block(sent.decode(errors="replace"), len(sent)), markup=False)
    else:
        sys.stdout.buffer.write(sent)
