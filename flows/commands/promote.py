"""`nightwatch promote`: lift learnings into the target repository's CLAUDE.md."""

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from flows.commands.running import make_prefect_ready
from nightwatch_core.models.learning import Destination, LearningOffer

Yes = Annotated[
    str, typer.Option("--yes", help="Choose without a terminal: numbers (1,3), or all.")
]
To = Annotated[
    Destination | None,
    typer.Option(
        "--to",
        help="Where: a draft pull request, or the checkout's file. [default: as --delivery says]",
        show_default=False,
    ),
]
Sample = Annotated[bool, typer.Option("--sample", help="Of nights on the sample.")]
Repo = Annotated[str | None, typer.Option(help="Git checkout of the application.")]
Delivery = Annotated[str | None, typer.Option(help="Where drafts go: github or local.")]
Base = Annotated[str | None, typer.Option(help="Branch that the pull request aims at.")]

QUESTION = "Select (numbers with commas between them, all; Enter for none)"


def promote(
    yes: Yes = "",
    to: To = None,
    sample: Sample = False,
    repo: Repo = None,
    delivery: Delivery = None,
    base_branch: Base = None,
) -> None:
    """Offer learnings for CLAUDE.md, which every coding agent reads; adds only what you choose.

    Exit code: 0 where your choice was carried out, 1 where it was not.
    """
    from nightwatch_core.learnings.promoting import choosable, chosen_of
    from nightwatch_core.settings import settings
    from tasks import promotion

    make_prefect_ready(settings().state, verbose=False)
    choices = {"repo": repo, "delivery": delivery, "base_branch": base_branch}
    options = promotion.promotion_options(choices, sample)
    found = promotion.offered(options, to)
    picked = chosen_of(yes, found.offers) if yes else None  # a wrong number is told at once
    console = Console()
    for part in _listed(found.offers):
        console.print(part, soft_wrap=True)
    if picked is None:
        said = _asked(console) if choosable(found.offers) else ""
        picked = chosen_of(said, found.offers)
    made = promotion.promote(options, found, picked)
    console.print(Text(made.said), soft_wrap=True)
    raise SystemExit(0 if made.done or options.dry_run else 1)


def _asked(console: Console) -> str:
    if sys.stdin.isatty():
        answer: str = typer.prompt(QUESTION, default="", show_default=False)
        return answer
    console.print("Choose with --yes, as in --yes 1,3.")
    return ""


def _listed(offers: tuple[LearningOffer, ...]) -> list[Text]:
    """Every offer as it would be added, then what is said already."""
    from nightwatch_core.learnings.promoting import choosable, entry

    free = choosable(offers)
    parts = [Text('Promote any to CLAUDE.md? (These become "always loaded" context)\n')] * bool(
        free
    )
    for one in free:
        parts.append(Text(f"{one.number}. [{one.kind.capitalize()}] {one.headline}", style="bold"))
        parts.append(Text(f"   {entry(one)}\n"))
    for one in (one for one in offers if not one.number):
        name = f"[{one.kind.capitalize()}] {one.headline} (from {one.source})"
        parts.append(Text(f"Not offered: {name}: said already: {one.duplicate_of}", style="dim"))
    return parts
