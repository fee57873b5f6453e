"""`nightwatch promote`: lift learnings into the target repository's CLAUDE.md."""

import sys
from collections.abc import Mapping
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.text import Text

from flows.commands.night import Sample, make_prefect_ready
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.intake.default_ports import RULES, SAMPLE, is_sample
from nightwatch_core.learnings.offers import list_entry, offers, with_offers
from nightwatch_core.learnings.promotion import PATH, chosen_offers, numbered_offers, promotion_pull
from nightwatch_core.memory.lesson_text import lessons_in
from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import Destination, LearningOffer, Promotion, Receipt
from nightwatch_core.models.report import Night
from nightwatch_core.settings import night_options, settings
from tasks.wiring import publishing, reading, task_store, with_default_ports, working_copy

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
Repo = Annotated[str | None, typer.Option(help="Git checkout of the application.")]
Delivery = Annotated[str | None, typer.Option(help="Where drafts go: github or local.")]
Base = Annotated[str | None, typer.Option(help="Branch that the pull request aims at.")]

ERRORS_UNREAD = "-"  # a source needs a name; promoting reads no errors
QUESTION = "Select (numbers with commas between them, all; Enter for none)"

NOTHING_LEFT = "There is nothing to promote."


class Offered(NamedTuple):
    """The offers, and the file they would be added to."""

    offers: tuple[LearningOffer, ...]
    before: str | None  # CLAUDE.md as it is; None: there is none
    to: Destination
    commit: Commit | None  # it was read at; None: in the working tree


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
    make_prefect_ready(settings().state, verbose=False)
    choices = {"repo": repo, "delivery": delivery, "base_branch": base_branch}
    options = promotion_options(choices, sample)
    offered = offer(options, to)
    picked = (
        chosen_offers(yes, offered.offers) if yes else None
    )  # a wrong number is refused at once
    console = Console()
    for part in _listed(offered.offers):
        console.print(part, soft_wrap=True)
    if picked is None:
        answer = _asked(console) if numbered_offers(offered.offers) else ""
        picked = chosen_offers(answer, offered.offers)
    promotion = add_to_rules(options, offered, picked)
    console.print(Text(promotion.said), soft_wrap=True)
    raise SystemExit(0 if promotion.done or options.dry_run else 1)


def _asked(console: Console) -> str:
    if sys.stdin.isatty():
        answer: str = typer.prompt(QUESTION, default="", show_default=False)
        return answer
    console.print("Choose with --yes, as in --yes 1,3.")
    return ""


def _listed(offers: tuple[LearningOffer, ...]) -> list[Text]:
    """Every offer as it would be added, then what is said already."""
    free = numbered_offers(offers)
    parts = [Text('Promote any to CLAUDE.md? (These become "always loaded" context)\n')] * bool(
        free
    )
    for item in free:
        parts.append(
            Text(f"{item.number}. [{item.kind.capitalize()}] {item.headline}", style="bold")
        )
        parts.append(Text(f"   {list_entry(item)}\n"))
    for item in (item for item in offers if not item.number):
        name = f"[{item.kind.capitalize()}] {item.headline} (from {item.source})"
        parts.append(Text(f"Not offered: {name}: said already: {item.duplicate_of}", style="dim"))
    return parts


def promotion_options(choices: Mapping[str, object], sample: bool) -> NightOptions:
    """The options under which code is read and the outbox is made; errors are not read."""
    source = {"source": SAMPLE} if sample else {"source": "file", "errors": ERRORS_UNREAD}
    local = {"model": RULES, "notify": "local"}
    return with_default_ports(night_options({**choices, **source, **local}))


def offer(options: NightOptions, to: Destination | None) -> Offered:
    """Return what can be promoted and the destination; write nothing.

    Raises `StopTheNight` where the checkout is wanted and none is named, or drafts are patches.
    """
    where = to or _usual(options)
    if where == "pull" and options.publish == "patches":
        raise StopTheNight(NO_BRANCHES)
    commit = None if where == "checkout" else reading(options).code.head()
    before = _read(options, commit)
    lessons = lessons_in(reading(options).knowledge)
    tasks = () if is_sample(options) else task_store().tasks()
    return Offered(offers(lessons, tasks, before or ""), before, where, commit)


def add_to_rules(
    options: NightOptions, offered: Offered, picked: tuple[LearningOffer, ...]
) -> Promotion:
    """Add what a person picked to CLAUDE.md, and remember that it was."""
    if not picked:
        left = any(item.number for item in offered.offers)
        said = "Nothing was chosen, nothing was changed." if left else NOTHING_LEFT
        return Promotion(done=True, said=said)
    text = with_offers(offered.before or "", picked)
    if offered.commit is None:
        path = working_copy(options).write(PATH, text, offered.before)
        said = f"Added to {path}; commit it when you like." if path else "Held back: a dry run."
        return _remembered(
            options, Promotion(chosen=picked, place=path, done=bool(path), said=said)
        )
    now = reading(options).clock.now()
    night = Night(id=f"promote-{now:%Y%m%d-%H%M%S}", window=Window(since=now, until=now), now=now)
    pull = promotion_pull(picked, text, offered.commit, night.id)
    receipt = publishing(options).outbox(night).publish(pull)
    return _remembered(options, _told(receipt, picked))


NO_BRANCHES = (
    "with NIGHTWATCH_PUBLISH=patches no branch is pushed, and no issue carries this: name a "
    "checkout with --repo and --to checkout"
)


def _usual(options: NightOptions) -> Destination:
    return "checkout" if options.code == "checkout" and options.delivery == "local" else "pull"


def _read(options: NightOptions, commit: Commit | None) -> str | None:
    if commit is not None:
        return reading(options).code.reader(commit).read_file(PATH)
    if not options.repo:
        raise StopTheNight("--to checkout needs --repo: the git checkout to write CLAUDE.md into")
    return working_copy(options).read(PATH)


def _told(receipt: Receipt, picked: tuple[LearningOffer, ...]) -> Promotion:
    done = receipt.status in ("done", "already there")
    known = "was there already" if receipt.status == "already there" else "is open"
    said = {
        "held back": "Held back: a dry run.",
        "refused": f"Refused: {receipt.reason}",
        "unknown": f"Nobody knows whether it was published ({receipt.reason}): say it again.",
    }.get(receipt.status, f"Draft pull request #{receipt.number} {known}: {receipt.url}")
    return Promotion(chosen=picked, place=receipt.url, done=done, said=said)


def _remembered(options: NightOptions, made: Promotion) -> Promotion:
    """Keep the digests with what they came from; a trouble there undoes nothing."""
    if not made.done:
        return made
    documents = dict.fromkeys(item.document for item in made.chosen)
    troubles = []
    for document in documents:
        digests = tuple(item.digest for item in made.chosen if item.document == document)
        try:
            _remember(options, document, digests)
        except NightWatchError as trouble:
            troubles.append(f"{document}: {trouble}")
    if not troubles:
        return made
    told = "; ".join(("It will be offered again, because it could not be remembered", *troubles))
    return made.model_copy(update={"said": f"{made.said} {told}"})


def _remember(options: NightOptions, document: str, digests: tuple[str, ...]) -> None:
    knowledge = reading(options).knowledge
    entries = knowledge.index().solutions
    entry = next((entry for entry in entries if entry.fingerprint == document), None)
    lesson = knowledge.read(entry.file) if entry else None
    if lesson is None:
        task_store().mark_promoted(document, digests)
        return
    kept = tuple(dict.fromkeys((*lesson.promoted, *digests)))
    publishing(options).knowledge.write(lesson.model_copy(update={"promoted": kept}))
