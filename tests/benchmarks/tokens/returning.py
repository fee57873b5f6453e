"""The same errors night after night, remembered.

Night 1 meets every error for the first time. On nights 2 and 3 all of them come back and the code
is as it was. Before night 4 one file that a lesson cites is rewritten in each application (a
comment is added), so that its lessons have to be looked at again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from benchmarks.tokens.designs import DAY, code_of
from benchmarks.tokens.measuring import Played, played
from benchmarks.tokens.ours import Outcome, analysed, cases_of, outcomes
from benchmarks.tokens.service import Service
from benchmarks.tokens.words import Night

from nightwatch_core.memory.lessons import lesson_from
from nightwatch_core.memory.prior_analyses import CaseTonight, Memory, recall_case
from nightwatch_core.memory.recall import LessonSearch
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import UnexplainedCase
from nightwatch_core.models.errors import Window
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.report import Night as NightId
from nightwatch_core.text.plain_text import digest

NIGHTS, REWRITTEN = 4, 4  # how many; before which one files are rewritten

Lessons = Mapping[str, Lesson]


def lived(night: Night) -> list[tuple[Played, ...]]:
    """The nights of one application, each from a cold prompt cache."""
    lessons: Lessons = {}
    told = []
    for number in range(1, NIGHTS + 1):
        tonight = rewritten(night, lessons) if number == REWRITTEN else night
        with Service(tonight.scenarios) as service:
            found, lessons = lived_once(tonight, number, lessons, service)
            told.append(played(tonight, found, service))
    return told


def lived_once(
    night: Night, number: int, lessons: Lessons, service: Service
) -> tuple[Sequence[Outcome], Lessons]:
    """What one night finds, and what is known after it."""
    code, named = code_of(night), _named(number)
    memory = Memory(read=lessons.get, similar=LessonSearch(lessons.values()).similar)
    ends = [
        recall_case(CaseTonight(case=case, night=named, lesson_days=90), memory, code, afresh=False)
        for case in cases_of(night, code)
    ]
    known = [end for end in ends if isinstance(end, Analysis)]
    unknown = [
        item.model_copy(update={"traces": (item.case.trace,) if item.case.trace else ()})
        for item in ends
        if isinstance(item, UnexplainedCase)
    ]
    found = [*known, *analysed(unknown, code, service)]
    kept = dict(lessons)
    for one in found:
        if isinstance(one, Analysis):
            file = f"errors/{one.fingerprint[3:]}.md"
            digests = {each.path: digest(code.read_file(each.path)) for each in one.evidence}
            lesson = lesson_from(one, named, digests, (), lessons.get(file))
            kept[file] = lesson.model_copy(update={"file": file})
    return outcomes(night, found), kept


def rewritten(night: Night, lessons: Lessons) -> Night:
    """The application after somebody added a comment to the file that most lessons cite."""
    cited = [quote.path for lesson in lessons.values() for quote in lesson.evidence]
    path = max(sorted(set(cited)), key=cited.count, default="")
    if not path:
        return night
    mark = "//" if path.endswith((".java", ".js", ".ts", ".php")) else "#"
    files = {**night.files, path: f"{night.files[path]}\n{mark} reviewed\n"}
    return replace(night, files=files)


def _named(number: int) -> NightId:
    until = DAY + timedelta(days=number)
    window = Window(since=until - timedelta(days=1), until=until)
    return NightId(id=f"{until.date().isoformat()}-bench", window=window, now=until)
