"""`nightwatch promote`: lift learnings into the target repository's CLAUDE.md."""

import sys
from collections.abc import Mapping
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.text import Text

from flows.commands.memory import memory_asked
from flows.commands.night import make_prefect_ready
from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.default_ports import RULES, SAMPLE, is_sample
from nightwatch_core.learnings.offers import (
    PATH,
    chosen_offers,
    list_entry,
    numbered_offers,
    offers,
    promotion_pull,
    with_offers,
)
from nightwatch_core.memory.lesson_text import lessons_in
from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import Window
from nightwatch_core.models.proposals import Destination, LearningOffer, Promotion
from nightwatch_core.models.report import Night
from nightwatch_core.settings import Settings, night_options, settings
from tasks import wiring
from tasks.wiring.opening import OpenNight

Yes = Annotated[
    str, typer.Option("--yes", help="Choice without a terminal: numbers (1,3), or all.")
]
To = Annotated[
    Destination | None,
    typer.Option(
        "--to",
        help="Target: a draft pull request, or the file in the checkout. [default: depends "
        "on --delivery]",
        show_default=False,
    ),
]
Repo = Annotated[str | None, typer.Option(help="Git checkout of the application.")]
Delivery = Annotated[str | None, typer.Option(help="Where drafts go: github, gitlab or local.")]
Base = Annotated[str | None, typer.Option(help="Base branch of the pull request.")]

QUESTION = "Select (numbers separated by commas, or all; Enter for none)"
NOTHING_LEFT = "There is nothing to promote."
NO_BRANCHES = "NIGHTWATCH_PUBLISH=patches pushes no branches: use --repo and --to checkout"


class Offered(NamedTuple):
    """The offers, and the file they would be added to."""

    offers: tuple[LearningOffer, ...]
    before: str | None  # CLAUDE.md as it is; None: there is none
    commit: Commit | None  # it was read at; None: in the working tree


def promote(
    yes: Yes = "",
    to: To = None,
    repo: Repo = None,
    delivery: Delivery = None,
    base_branch: Base = None,
) -> None:
    """Choose learnings to add to CLAUDE.md, which every coding agent reads.

    Exit code: 0 if your choice was added, else 1.
    """
    make_prefect_ready(settings().state, verbose=False)
    choices = {"repo": repo, "delivery": delivery, "base_branch": base_branch}
    opened = for_promotion(choices, settings())
    offered = offer(opened, to)
    picked = chosen_offers(yes, offered.offers) if yes else None  # refuses wrong numbers at once
    console = Console()
    for part in _listed(offered.offers):
        console.print(part, soft_wrap=True)
    if picked is None:
        answer = ""
        if numbered_offers(offered.offers) and sys.stdin.isatty():
            answer = typer.prompt(QUESTION, default="", show_default=False)
        elif numbered_offers(offered.offers):
            console.print("Choose with --yes, as in --yes 1,3.")
        picked = chosen_offers(answer, offered.offers)
    promotion = add_to_rules(opened, offered, picked)
    console.print(Text(promotion.text), soft_wrap=True)
    raise SystemExit(0 if promotion.done or opened.options.dry_run else 1)


def for_promotion(choices: Mapping[str, object], at: Settings) -> OpenNight:
    """Return the services with which code is read and a draft is made; errors are not read."""
    sample = not choices.get("repo") and is_sample(memory_asked(at))
    source = {"source": SAMPLE} if sample else {"source": "file", "errors": "-"}
    local = {"model": RULES, "notify": "local"}
    options = wiring.with_default_ports(night_options({**choices, **source, **local}), at)
    return wiring.for_a_command(options, at)


def offer(opened: OpenNight, to: Destination | None) -> Offered:
    """Return what can be promoted and the file it would be added to; write nothing.

    Raises `StopTheNight` where the checkout is wanted and none is named, or drafts are patches.
    """
    options, ports = opened.options, opened.reading
    is_local = options.code == "checkout" and options.delivery == "local"
    commit = before = None
    if (to or ("checkout" if is_local else "pull")) == "pull":
        if options.publish == "patches":
            raise StopTheNight(NO_BRANCHES)
        commit = ports.code.head()
        before = ports.code.reader(commit).read_file(PATH)
    elif options.repo:
        before = wiring.working_copy(options).read(PATH)
    else:
        raise StopTheNight("--to checkout needs --repo: the git checkout to write CLAUDE.md into")
    lessons = lessons_in(ports.knowledge)
    tasks = () if is_sample(options) else wiring.task_store(opened.settings).tasks()
    return Offered(offers(lessons, tasks, before or ""), before, commit)


def add_to_rules(
    opened: OpenNight, offered: Offered, picked: tuple[LearningOffer, ...]
) -> Promotion:
    """Add what a person picked to CLAUDE.md, and remember that it was."""
    if not picked:
        left = any(item.number for item in offered.offers)
        text = "Nothing selected, nothing changed." if left else NOTHING_LEFT
        return Promotion(done=True, text=text)
    rules = with_offers(offered.before or "", picked)
    if offered.commit is None:
        place = wiring.working_copy(opened.options).write(PATH, rules, offered.before)
        done = bool(place)
        text = (
            f"Added to {place}; you can commit it now."
            if place
            else "Dry run: nothing was changed."
        )
    else:
        now = opened.reading.clock.now()
        window = Window(since=now, until=now)
        night = Night(id=f"promote-{now:%Y%m%d-%H%M%S}", window=window, now=now)
        pull = promotion_pull(picked, rules, offered.commit, night.id)
        receipt = opened.publishing.outbox(night).publish(pull)
        place, done = receipt.url, receipt.status in ("done", "already there")
        state = "was there already" if receipt.status == "already there" else "is open"
        text = {
            "held back": "Dry run: nothing was changed.",
            "refused": f"Refused: {receipt.reason}",
            "unknown": f"Unknown whether it was published ({receipt.reason}): try again.",
        }.get(receipt.status, f"Draft pull request {receipt.name} {state}: {receipt.url}")
    if done:
        _remember(opened, picked)
    return Promotion(place=place, done=done, text=text)


def _listed(every: tuple[LearningOffer, ...]) -> list[Text]:
    """Every offer as it would be added, then what CLAUDE.md says already."""
    parts = []
    if numbered_offers(every):
        parts = [Text('Promote any to CLAUDE.md? (These become "always loaded" context)\n')]
    for item in every:
        name = f"[{item.kind.capitalize()}] {item.headline}"
        if item.number:
            parts.append(Text(f"{item.number}. {name}", style="bold"))
            parts.append(Text(f"   {list_entry(item)}\n"))
        else:
            same = (
                f"Not offered: {name} (from {item.source}): already in CLAUDE.md: "
                f"{item.duplicate_of}"
            )
            parts.append(Text(same, style="dim"))
    return parts


def _remember(opened: OpenNight, chosen: tuple[LearningOffer, ...]) -> None:
    knowledge = opened.reading.knowledge
    files = {entry.fingerprint: entry.file for entry in knowledge.index().solutions}
    for document in dict.fromkeys(item.document for item in chosen):
        digests = tuple(item.digest for item in chosen if item.document == document)
        lesson = knowledge.read(files[document]) if document in files else None
        if lesson is None:
            wiring.task_store(opened.settings).mark_promoted(document, digests)
        else:
            promoted = tuple(dict.fromkeys((*lesson.promoted, *digests)))
            lesson = lesson.model_copy(update={"promoted": promoted})
            opened.publishing.knowledge.write(lesson)
