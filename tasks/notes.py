"""Doors for `nightwatch learnings` and `nightwatch compound`."""

from typing import NamedTuple

from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.default_ports import RULES, SAMPLE, is_sample
from nightwatch_core.learnings.compound import (
    Drawn,
    drawn_by_model,
    drawn_by_rule,
    published_last,
    similar,
)
from nightwatch_core.learnings.compound_talk import PROMPT
from nightwatch_core.memory.notes.lesson_notes import with_new_notes
from nightwatch_core.memory.notes.researcher import LIMIT, as_task, relevant_learnings
from nightwatch_core.models.analysis import Allowance
from nightwatch_core.models.conversation import Transcript
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.learning import FoundLearning, Notes, TaskFile
from nightwatch_core.models.options import NightOptions
from nightwatch_core.settings import night_options
from nightwatch_core.text.escaping import line
from tasks.readers import lessons_in
from tasks.wiring import (
    chosen,
    knowledge_of,
    nights,
    publishing,
    reading,
    shelf,
    task_shelf,
    transcripts,
)

NOBODY_READS = "-"  # a source needs a name; notes need no errors
SECONDS = 180  # for a model to draw notes


class Target(NamedTuple):
    """What notes are written about: a lesson, or a task file."""

    task: TaskFile  # the lesson as one, where it is a lesson
    lesson: Lesson | None


def found_learnings(
    intent: str, sample: bool, limit: int = LIMIT, archive: bool = False
) -> tuple[FoundLearning, ...]:
    """What lessons and task files say of an intent; `archive`: archived lessons, too.

    Raises `GiveUp` where the intent says nothing.
    """
    return relevant_learnings(intent, learnable(sample, archive), limit)


def learnable(sample: bool, archive: bool = False) -> tuple[TaskFile, ...]:
    """Every task file, and every lesson that was not superseded; the sample has no task files."""
    knowledge = knowledge_of(NightOptions(source=SAMPLE if sample else "file"))
    old = knowledge.archived().solutions if archive else ()
    read = (*lessons_in(knowledge), *(knowledge.read(entry.file) for entry in old))
    lessons = (lesson for lesson in read if lesson and not lesson.superseded_by)
    tasks = () if sample else task_shelf().tasks()
    return (*tasks, *map(as_task, lessons))


def compound_options(sample: bool) -> NightOptions:
    """The options under which a model is asked and the knowledge is written."""
    source = {"source": SAMPLE} if sample else {"source": "file", "errors": NOBODY_READS}
    unused = {"code": SAMPLE, "delivery": "local", "notify": "local"}  # nobody reads code here
    return chosen(night_options({**source, **unused}))


def meant(id: str, sample: bool) -> tuple[NightOptions, Target]:
    """What notes are written about, and where: of real nights, else of nights on the sample."""
    first: StopTheNight | None = None
    for of_sample in (True,) if sample else (False, True):
        options = compound_options(of_sample)
        try:
            return options, target_of(id, options)
        except StopTheNight as unknown:
            first = first or unknown
    raise first or StopTheNight("there is nothing to write notes about")


def target_of(id: str, options: NightOptions) -> Target:
    """The task of that id, the lesson of that fingerprint or its beginning; empty: the last one.

    Raises `StopTheNight` where none, or more than one, is meant.
    """
    wanted = id.strip()
    if not wanted:
        ours = (one for one in nights().reports() if is_sample(one.options) == is_sample(options))
        wanted = published_last(tuple(ours))
    task = None if is_sample(options) else task_shelf().read(wanted)
    if task is not None:
        return Target(task, None)
    lesson = _lesson(wanted, lessons_in(reading(options).knowledge))
    return Target(as_task(lesson), lesson)


def similar_to(target: Target, options: NightOptions) -> tuple[FoundLearning, ...]:
    """Learnings there are already that are like what the target is about."""
    return similar(target.task, learnable(is_sample(options)))


def drawn(target: Target, options: NightOptions, by_rule: bool = False) -> Drawn:
    """The notes that would be written; asks the model unless `by_rule` or there is none."""
    world = reading(options)
    today = world.clock.now().date()
    if by_rule or options.model == RULES:
        why = "as you asked" if by_rule else "no language model is set up"
        return drawn_by_rule(target.lesson, why, today)
    may = Allowance(
        iterations=1,
        tokens=options.token_budget_per_error,
        cost=options.cost_per_error or options.cost_per_night or None,
        seconds=min(SECONDS, options.seconds_per_error),
    )
    prompt = shelf().agent(PROMPT).prompt
    heard = _transcript(target.lesson)
    return drawn_by_model(target.task, target.lesson, heard, world.model, prompt, may, today)


def keep_notes(
    target: Target, notes: Notes, related: tuple[str, ...], options: NightOptions
) -> str:
    """Append the notes to the lesson or the task file, and link what is related; returns the file.

    Raises `GiveUp` where they cannot be appended.
    """
    if target.lesson is None:
        return task_shelf().append(target.task.id, notes, related)
    # Read again: a night may have written the lesson while a person was thinking.
    lesson = reading(options).knowledge.read(target.lesson.file) or target.lesson
    return publishing(options).knowledge.write(with_new_notes(lesson, notes, related))


def _lesson(wanted: str, lessons: tuple[Lesson, ...]) -> Lesson:
    exact = [lesson for lesson in lessons if wanted in lesson.names]
    begun = [lesson for lesson in lessons if any(_begins(n, wanted) for n in lesson.names)]
    meant = exact or begun
    if len(meant) == 1:
        return meant[0]
    if not meant:
        raise StopTheNight(
            f"there is no lesson or task {line(wanted, 80)!r}: `nightwatch knowledge search` finds "
            "lessons, NIGHTWATCH_TASKS_DIR names the folder of tasks"
        )
    several = ", ".join(lesson.fingerprint for lesson in meant[:5])
    raise StopTheNight(f"{line(wanted, 80)!r} may be {several}: say more of the fingerprint")


def _begins(fingerprint: str, wanted: str) -> bool:
    """Whether a fingerprint begins so, with or without its version."""
    return fingerprint.startswith(wanted) or fingerprint.partition(":")[2].startswith(wanted)


def _transcript(lesson: Lesson | None) -> Transcript | None:
    """What was said about a lesson's error; None where nothing was kept."""
    if lesson is None:
        return None
    try:
        return transcripts().find(lesson.fingerprint)
    except StopTheNight:
        return None
