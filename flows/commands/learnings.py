"""`nightwatch learnings`: what was learned before that has to do with what you intend."""

from typing import Annotated

import typer

from flows.commands.running import Sample, make_prefect_ready, plain_console
from nightwatch_core.intake.default_ports import SAMPLE
from nightwatch_core.learnings.chosen_learnings import PROMPT, ChosenLearnings, chosen_learnings
from nightwatch_core.memory.lessons.all_lessons import archived_lessons, lessons_in
from nightwatch_core.memory.notes.learnings_text import as_yaml
from nightwatch_core.memory.notes.lesson_notes import as_task
from nightwatch_core.memory.notes.researcher import LIMIT, relevant_learnings
from nightwatch_core.models.knowledge import FoundLearning, TaskFile
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.usage import Allowance
from nightwatch_core.settings import night_options, settings
from nightwatch_core.text.escaping import clean
from nightwatch_core.text.transcript_text import used
from tasks.wiring import agent_store, knowledge_of, reading, task_store, with_default_ports

ERRORS_UNREAD = "-"  # a source needs a name; words need no errors
SECONDS = 180  # for a model to answer

Intent = Annotated[str, typer.Argument(help="What you are about to do, in a sentence.")]
Limit = Annotated[int, typer.Option(min=1, max=50, help="Documents to name at most.")]
AskModel = Annotated[
    bool, typer.Option("--ask-model", help="Have the model find words and drop what misses.")
]
Archive = Annotated[bool, typer.Option("--archive", help="Look at archived lessons, too.")]


def learnings(
    intent: Intent,
    limit: Limit = 5,
    archive: Archive = False,
    ask_model: AskModel = False,
    sample: Sample = False,
) -> None:
    """Find earlier learnings for an intent in lessons and task files; prints YAML.

    Words alone decide. With --ask-model the connected model finds further words, and drops what
    shares words but does not apply; where it cannot be asked, words alone decide.
    """
    if ask_model:
        chosen = ask_researcher(intent, sample, limit, archive)
        took = f" It took {used(chosen.usage)}." if chosen.usage.calls else ""
        typer.echo(f"{clean(chosen.said)}{took}", err=True)
        results = chosen.found
    else:
        results = search_learnings(intent, sample, limit, archive)
    plain_console()
    typer.echo(as_yaml(results), nl=False)


def ask_researcher(intent: str, sample: bool, limit: int, archive: bool) -> ChosenLearnings:
    """Return what the connected model chose of the learnings for an intent, and how."""
    make_prefect_ready(settings().state, verbose=False)
    options, may = options_of_words(sample)
    prompt = agent_store().agent(PROMPT).prompt
    documents = documents_with_learnings(sample, archive)
    return chosen_learnings(intent, documents, reading(options).model, prompt, may, limit)


def options_of_words(sample: bool) -> tuple[NightOptions, Allowance]:
    """The options under which a model is asked one question, and what it may use."""
    source = {"source": SAMPLE} if sample else {"source": "file", "errors": ERRORS_UNREAD}
    unused = {"code": SAMPLE, "delivery": "local", "notify": "local"}  # nobody reads code here
    options = with_default_ports(night_options({**source, **unused}))
    return options, Allowance(
        iterations=1,
        tokens=options.token_budget_per_error,
        cost=options.cost_per_error or options.cost_per_night or None,
        seconds=min(SECONDS, options.seconds_per_error),
    )


def search_learnings(
    intent: str, sample: bool, limit: int = LIMIT, archive: bool = False
) -> tuple[FoundLearning, ...]:
    """Return what lessons and task files say of an intent; `archive`: archived lessons, too.

    Raises `GiveUp` where the intent says nothing.
    """
    return relevant_learnings(intent, documents_with_learnings(sample, archive), limit)


def documents_with_learnings(sample: bool, archive: bool = False) -> tuple[TaskFile, ...]:
    """Every task file, and every lesson that was not superseded; the sample has no task files."""
    knowledge = knowledge_of(NightOptions(source=SAMPLE if sample else "file"))
    old = archived_lessons(knowledge) if archive else ()
    lessons = (one for one in (*lessons_in(knowledge), *old) if not one.superseded_by)
    tasks = () if sample else task_store().tasks()
    return (*tasks, *map(as_task, lessons))
