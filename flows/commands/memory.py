"""Commands on earlier nights and lessons: history, report, scoreboard, knowledge, ignore, mcp."""

from datetime import date
from itertools import islice
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.night import OfNight, make_prefect_ready, plain_console, show
from flows.commands.values import AsJson, print_json
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.intake.default_ports import SAMPLE, is_sample
from nightwatch_core.intake.ignore_rules import expired, summary
from nightwatch_core.learnings.compound import RESEARCHER, ChosenLearnings, chosen_learnings
from nightwatch_core.learnings.library import as_data, lesson_file, lesson_text, lessons_text
from nightwatch_core.memory.lesson_text import archived_lessons, lessons_in
from nightwatch_core.memory.note_reader import as_task
from nightwatch_core.memory.recall import search_lessons
from nightwatch_core.memory.researcher import LIMIT, as_yaml, relevant_learnings
from nightwatch_core.memory.scoreboard import duplicate_rate, with_drafts
from nightwatch_core.memory.scoreboard import scoreboard as scoreboard_of
from nightwatch_core.models.answer import Allowance
from nightwatch_core.models.knowledge import FoundLearning, IgnoreSuggestion, Scoreboard, TaskFile
from nightwatch_core.models.options import SECONDS_PER_ERROR, NightOptions
from nightwatch_core.models.report import SINGLE_RUN, RunReport
from nightwatch_core.patterns.ignore_suggestions import rule_from
from nightwatch_core.ports import KnowledgeReader
from nightwatch_core.publish.blocks import Table as Cells
from nightwatch_core.report.facts import reliability, sentences
from nightwatch_core.report.sections import backtest_sentence
from nightwatch_core.settings import Settings, night_options, settings
from nightwatch_core.text.escaping import clean, line
from nightwatch_core.text.plain_text import moment, plural
from nightwatch_core.text.transcript_text import used
from tasks import wiring
from tasks.wiring.opening import OpenNight

NO_NIGHT = "There is no night of this application yet: run `nightwatch night`."
NightName = Annotated[
    str,
    typer.Argument(
        help="Night or single run, as `nightwatch history` lists it; empty: the newest night."
    ),
]


PLAIN: dict[str, Any] = {"box": None, "padding": (0, 1, 0, 0)}  # tables


def history(
    limit: Annotated[int, typer.Option(help="Nights to show.")] = 30, as_json: AsJson = False
) -> None:
    """List earlier nights."""
    nights = wiring.nights(settings()).history()[:limit]
    if as_json:
        print_json(nights)
    names = "Night,App,Status,Groups,Known,Analysed,Issues,Drafts,Cost"
    table = Table(*names.split(","), **PLAIN)
    table.columns[0].no_wrap = True
    for night in nights:
        cost = "unknown" if night.cost is None else f"${night.cost:.2f}"
        known_count = "–" if night.known is None else night.known
        numbers = (night.errors, known_count, night.analysed, night.issues, night.pulls)
        is_dry = bool(night.night and night.night.kind.dry)
        status = f"{night.status}, dry" if is_dry else night.status
        table.add_row(Text(night.id), Text(night.app), status, *map(str, numbers), cost)
    Console().print(table if nights else NO_NIGHT)


def report(night: NightName = "", as_json: AsJson = False) -> None:
    """Show the report of a night."""
    kept = kept_report(night)
    if as_json:
        print_json(kept)
    show(kept)


def kept_report(name: str) -> RunReport:
    """Return the night or run of that name, else the newest; raises `StopTheNight` for none."""
    for report in wiring.nights(settings()).reports():
        if report.night.id == name or not (name or report.night.id.startswith(SINGLE_RUN)):
            return report
    if not name:
        raise StopTheNight(NO_NIGHT)
    raise StopTheNight(f"no night {name[:80]!r} was found: see `nightwatch history`")


def memory_asked(at: Settings) -> NightOptions:
    """Return options that name the memory to ask: the sample's where the newest night was one."""
    reports = wiring.nights(at).reports()
    newest = next((item for item in reports if not item.night.id.startswith(SINGLE_RUN)), None)
    return NightOptions(source=SAMPLE if newest and is_sample(newest.options) else "file")


def knowledge_asked(at: Settings) -> KnowledgeReader:
    """Return the memory to ask."""
    return wiring.knowledge_of(memory_asked(at), at)


# `nightwatch batches`: the batches that were submitted.

NO_BATCH = "No batch was submitted yet: `nightwatch night --batch` submits one."


def batches(as_json: AsJson = False) -> None:
    """List submitted batches, newest first.

    Calls no service: `nightwatch night --collect` collects the results.
    """
    store, console = wiring.services.kept_batches(settings()), Console()
    table = Table("Night", "Submitted", "Batch", "Model", "Errors", "Collected by", box=None)
    submitted = store.batches()
    if as_json:
        print_json(submitted)
    for batch in reversed(submitted):
        id, count = batch.id or "submission unconfirmed", str(len(batch.fingerprints))
        collected = batch.collected_by or ("results read" if batch.results else "not yet")
        cells = (batch.night, moment(batch.submitted), id, batch.model, count, collected)
        table.add_row(*map(Text, cells))
    console.print(table if submitted else NO_BATCH)
    for complaint in store.complaints():
        console.print(Text(complaint, style="bold red"))


# `nightwatch scoreboard`: how right earlier analyses proved, and how sure they had said to be.

LOOKED_THROUGH = 30  # reports


def scoreboard(as_json: AsJson = False) -> None:
    """Show how often earlier analyses were right, by confidence."""
    at = settings()
    asked, knowledge = memory_asked(at), knowledge_asked(at)
    lessons = (*lessons_in(knowledge), *archived_lessons(knowledge))
    every = islice(wiring.nights(at).reports(), LOOKED_THROUGH)
    newest = [item for item in every if is_sample(item.options) == is_sample(asked)]
    outcomes = next(filter(None, (item.outcomes for item in newest)), ())
    board = with_drafts(scoreboard_of(lessons), outcomes)
    board = board.model_copy(update={"duplicates": duplicate_rate(newest)})
    if as_json:
        print_json(board)
    draw(board, Console())


def draw(board: Scoreboard, console: Console) -> None:
    """Print the table and its sentences; before there is anything, only when there will be."""
    if board.found.times:
        console.print(_drawn(reliability(board)))
        console.print()
    for sentence in sentences(board):
        console.print(Text(sentence))


def _drawn(cells: Cells) -> Table:
    table = Table(**PLAIN)
    for at, name in enumerate(cells.columns):
        table.add_column(Text(name), justify="right" if at else "left", overflow="fold")
    for row in cells.rows:
        table.add_row(*map(Text, row))
    return table


# `nightwatch knowledge search`: what earlier nights taught.

GROUP: dict[str, Any] = {"no_args_is_help": True, "add_completion": False, "rich_markup_mode": None}
knowledge = typer.Typer(help="Lessons of earlier nights.", **GROUP)
Words = Annotated[
    list[str], typer.Argument(help="Words of an error class, transaction, message or cause.")
]


@knowledge.callback()
def _group() -> None:
    """Search and list lessons."""


@knowledge.command()
def search(
    words: Words,
    limit: Annotated[int, typer.Option(min=1, help="Lessons to show.")] = 10,
    archive: Annotated[
        bool, typer.Option("--archive", help="Also search archived lessons.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find lessons by words."""
    console = Console()
    folder = knowledge_asked(settings())
    old = archived_lessons(folder) if archive else ()
    matches = search_lessons(" ".join(words), (*lessons_in(folder), *old))[:limit]
    if as_json:
        print_json([{"lesson": lesson, "match": match} for lesson, match in matches])
    for lesson, match in matches:
        head = f"{match.score:.2f}  {lesson.error_class} in {lesson.transaction}"
        console.print(Text(head, "bold"))
        console.print(Text(" ".join(lesson.root_cause.split())[:300]))
        because = f"because {', '.join(match.because)} · {lesson.file}"
        console.print(Text(because, "dim"), soft_wrap=True)
    if not matches:
        console.print("No lesson matches these words.")


# `nightwatch learnings`: earlier learnings for an intent.

ERRORS_UNREAD = "-"  # a source needs a name; words need no errors
SECONDS = 180  # for a model to answer

Intent = Annotated[str, typer.Argument(help="What you are about to do, in a sentence.")]
Limit = Annotated[int, typer.Option(min=1, max=50, help="Documents to show, at most.")]
AskModel = Annotated[
    bool,
    typer.Option(
        "--ask-model", help="Let the model add search words and remove results that do not apply."
    ),
]
Archive = Annotated[bool, typer.Option("--archive", help="Also search archived lessons.")]


def learnings(
    intent: Intent,
    limit: Limit = 5,
    archive: Archive = False,
    ask_model: AskModel = False,
    as_json: AsJson = False,
) -> None:
    """Find learnings for an intent in lessons and task files; prints YAML.

    Searches by words. With --ask-model, the connected model adds search words and removes
    results that do not apply; if the model fails, the word search is used.
    """
    if ask_model:
        make_prefect_ready(settings().state, verbose=False)
        chosen = ask_researcher(for_words(settings()), intent, limit, archive)
        took = f" It took {used(chosen.usage)}." if chosen.usage.calls else ""
        typer.echo(f"{clean(chosen.text)}{took}", err=True)
        results = chosen.found
    else:
        results = search_learnings(intent, limit, archive)
    if as_json:
        print_json(results)
    plain_console()
    typer.echo(as_yaml(results), nl=False)


def ask_researcher(opened: OpenNight, intent: str, limit: int, archive: bool) -> ChosenLearnings:
    """Return what the connected model chose of the learnings for an intent, and how."""
    prompt = opened.reading.agents.agent(RESEARCHER).prompt
    documents = documents_with_learnings(opened.settings, archive)
    may = allowance_of_a_question(opened.options)
    return chosen_learnings(intent, documents, opened.reading.model, prompt, may, limit)


def for_words(at: Settings) -> OpenNight:
    """Return the services of a command that asks a model about the memory, and reads no errors."""
    of_sample = is_sample(memory_asked(at))
    source = {"source": SAMPLE} if of_sample else {"source": "file", "errors": ERRORS_UNREAD}
    unused = {"code": SAMPLE, "delivery": "local", "notify": "local"}
    options = wiring.with_default_ports(night_options({**source, **unused}), at)
    return wiring.for_a_command(options, at)


def allowance_of_a_question(options: NightOptions) -> Allowance:
    """Return the allowance for one question to a model."""
    return Allowance(
        iterations=1,
        tokens=options.token_budget_per_error,
        cost=(options.cost_per_error or options.cost_per_night) if options.cost_per_night else None,
        seconds=min(SECONDS, SECONDS_PER_ERROR),
    )


def search_learnings(
    intent: str, limit: int = LIMIT, archive: bool = False
) -> tuple[FoundLearning, ...]:
    """Return what lessons, archived ones with `archive`, and task files say of an intent."""
    return relevant_learnings(intent, documents_with_learnings(settings(), archive), limit)


def documents_with_learnings(at: Settings, archive: bool = False) -> tuple[TaskFile, ...]:
    """Return every task file and every lesson; the sample has no task files."""
    asked, knowledge = memory_asked(at), knowledge_asked(at)
    old = archived_lessons(knowledge) if archive else ()
    lessons = (*lessons_in(knowledge), *old)
    tasks = () if is_sample(asked) else wiring.task_store(at).tasks()
    return (*tasks, *map(as_task, lessons))


# `nightwatch ignore`: the team's ignore rules, what nights suggested, and accepting one.

NEVER = "never"
LONGEST_REASON = 300  # characters

ignore = typer.Typer(help="Ignore rules: list them, see suggestions, accept one.", **GROUP)
Number = Annotated[int, typer.Argument(help="Number of the suggestion in the report.")]
Reason = Annotated[str, typer.Option(help="Reason to ignore the error; empty: as suggested.")]
Expires = Annotated[
    str, typer.Option(help="Last day of the rule (2031-12-31), or never; empty: as suggested.")
]


@ignore.command("list")
def list_rules(as_json: AsJson = False) -> None:
    """List the rules: in force, expired, and unreadable."""
    at, console = settings(), plain_console()
    file = wiring.ignore_file(memory_asked(at), at)
    held = file.rules()
    if as_json:
        print_json(held)
    console.print(Text(str(file.source), "bold"))
    for rule in held.rules:
        over = expired(rule, file.today())
        state = "expired" if over else "in force"
        console.print(Text(f"line {rule.line}: {state}: {summary(rule)}", "dim" if over else ""))
    for complaint in held.complaints:
        console.print(Text(f"not read: {line(complaint, 400)}", "red"))
    if not held.rules and not held.complaints:
        console.print("There are no rules.")


@ignore.command()
def suggestions(night: OfNight = "", as_json: AsJson = False) -> None:
    """Show the rules that a night suggested, with the evidence."""
    at, console, report = settings(), plain_console(), kept_report(night.strip())
    file = wiring.ignore_file(memory_asked(at), at)
    if as_json:
        print_json(report.learned.suggestions)
    console.print(Text(f"Night {report.night.id}", "bold"))
    for number, suggestion in enumerate(report.learned.suggestions, 1):
        console.print(Text(f"{number}. {summary(rule_from(suggestion))}", "bold"))
        console.print(Text(f"   {line(suggestion.evidence, 600)}"))
        console.print(Text(f"   back-test: {backtest_sentence(suggestion.backtest)}", "dim"))
        console.print(Text("   in ignore.yml:", "dim"))
        for row in file.written(rule_from(suggestion)).splitlines():
            console.print(Text(f"   {clean(row)}"))
    if report.learned.suggestions:
        console.print(
            Text(f"Accept one: {report.command} ignore accept 1 --night {report.night.id}")
        )
    else:
        console.print("No suggestions.")
    if report.learned.no_suggestion:
        console.print("Not suggested:")
    for reason in report.learned.no_suggestion:
        console.print(Text(f"  {line(reason, 300)}"))


@ignore.command()
def accept(number: Number, night: OfNight = "", reason: Reason = "", expires: Expires = "") -> None:
    """Add a suggested rule to ignore.yml; the rest of the file stays unchanged."""
    at, console = settings(), plain_console()
    file = wiring.ignore_file(memory_asked(at), at)
    report = kept_report(night.strip())
    suggested = report.learned.suggestions
    if not 1 <= number <= len(suggested):
        count = plural(len(suggested), "suggestion")
        raise StopTheNight(f"night {report.night.id} has {count}: there is no number {number}")
    suggestion = suggested[number - 1]
    rule = rule_from(suggestion).model_copy(
        update={
            "reason": line(reason or suggestion.reason, LONGEST_REASON),
            "expires": _last_day(expires, suggestion, file.today()),
        }
    )
    added = file.add(rule)
    console.print(Text(f"{added.status}: {summary(added.rule)}", "bold"))
    console.print(Text(f"{file.path} line {added.rule.line}"))


def _last_day(text: str, suggestion: IgnoreSuggestion, today: date) -> date | None:
    """The rule's last day: the one that was typed, else the suggested one; None: it never ends."""
    if text.strip().lower() == NEVER:
        return None
    try:
        day = date.fromisoformat(text.strip()) if text else suggestion.expires
    except ValueError:
        raise StopTheNight(
            f"--expires {text[:60]!r} is not a date: write 2031-12-31, or never"
        ) from None
    if day is not None and day < today:
        raise StopTheNight(f"{day} is in the past: set --expires to a later day, or never")
    return day


# `nightwatch mcp`: the memory for people's own coding agents.


def mcp() -> None:
    """Serve lessons and learnings to a coding agent (MCP over standard input and output).

    Read-only; uses no network. Ends when the agent disconnects. Needs the extra `mcp`.
    """
    wiring.serve_library(Memory())


class Memory:
    """The Library over knowledge and task files as they are at each question; writes nothing."""

    def __init__(self) -> None:
        self._knowledge = knowledge_asked(settings())

    def search_lessons(self, query: str, limit: int, archived: bool) -> str:
        """Return lessons that hold words of the query, as YAML."""
        old = archived_lessons(self._knowledge) if archived else ()
        matches = search_lessons(query, (*lessons_in(self._knowledge), *old))
        return as_data(lessons_text(matches[:limit]), "yaml")

    def get_lesson(self, id: str) -> str:
        """Return one lesson's document, from the archive where it is not at hand."""
        knowledge = self._knowledge
        file = lesson_file(
            id, lambda: knowledge.index().solutions, lambda: knowledge.archived().solutions
        )
        lesson = knowledge.read(file)
        if lesson is None:
            raise GiveUp(f"{line(file, 100)} cannot be read now: ask again")
        return lesson_text(lesson)

    def learnings(self, intent: str, limit: int) -> str:
        """Return learnings of task files and lessons, as the learnings researcher writes them."""
        return as_data(as_yaml(search_learnings(intent, limit)), "yaml")


# `nightwatch maintenance`


def maintenance(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say it.")] = False,
) -> None:
    """Delete what was not used for long, and say what that frees.

    Waits until no night runs. The deployment of that name does it every week.
    """
    at = settings()
    with wiring.one_night(at):
        for freed in wiring.free_space(at, at.state / "results", dry=dry_run):
            print(freed)
