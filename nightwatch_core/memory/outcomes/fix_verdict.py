"""What people and production said about our analyses: right, wrong, or not yet decided."""

from collections.abc import Callable, Iterable

from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import JudgedAnalysis, OutcomeKind, PublishedItem
from nightwatch_core.models.value import Value


class Mark(Value):
    """What one outcome says about the finding behind it."""

    right: float | None  # 0 to 1; None: it decides nothing
    label: str


# A merge is a reviewer's word for cause and fix, until production has shown what it was worth. An
# edit before it grants the cause and takes back the fix, wholly or in part: a half. An issue that
# is closed as done decides only where it held our fix: otherwise somebody may have found another.
OUTCOMES: dict[OutcomeKind, Mark] = {
    "verified": Mark(right=1.0, label="verified in production"),
    "merged": Mark(right=1.0, label="merged"),
    "closed": Mark(right=1.0, label="issue closed as done with our fix in it"),
    "edited before merge": Mark(right=0.5, label="edited before merge, verified later or not"),
    "closed unmerged": Mark(right=0.0, label="closed unmerged"),
    "not planned": Mark(right=0.0, label="issue closed as not planned"),
    "no effect": Mark(right=0.0, label="merged without effect"),
    "regressed": Mark(right=0.0, label="came back after the fix"),
    "reopened": Mark(right=None, label="issue reopened, effect not measured"),
}
EFFECTS: tuple[OutcomeKind, ...] = ("verified", "no effect", "regressed")
MERGES: tuple[OutcomeKind, ...] = ("merged", "edited before merge")
REVIEWS: tuple[OutcomeKind, ...] = (*MERGES, "closed unmerged")
ON_ISSUES: tuple[OutcomeKind, ...] = ("closed", "not planned", "reopened")


class Attempt(Value):
    """What we published of one analysis, and what happened to it since."""

    items: tuple[PublishedItem, ...]
    kinds: tuple[OutcomeKind, ...] = ()  # everything that happened to them, oldest first
    merged_since: bool = False  # a pull request of another analysis of the same error

    def last(self, family: tuple[OutcomeKind, ...]) -> OutcomeKind | None:
        """The last thing of that family."""
        return next((kind for kind in reversed(self.kinds) if kind in family), None)


def judgements(lessons: Iterable[Lesson]) -> tuple[JudgedAnalysis, ...]:
    """One for each analysis whose issue or pull request was published; an item counts once."""
    known: set[object] = set()
    found: list[JudgedAnalysis] = []
    for lesson in lessons:
        fresh = [each for each in lesson.proposed if _name(each) not in known]
        known.update(map(_name, fresh))
        found.extend(_judged(lesson, attempt) for attempt in _attempts(lesson, fresh))
    return tuple(found)


def effect_of(attempt: Attempt) -> OutcomeKind | None:
    """What production showed, once the fix was there."""
    return attempt.last(EFFECTS)


def doubted(attempt: Attempt) -> OutcomeKind | None:
    """An issue that was reopened after the merge takes the reviewer's word back for now."""
    merged = attempt.last(REVIEWS) in MERGES
    return "reopened" if merged and attempt.last(ON_ISSUES) == "reopened" else None


def reviewed(attempt: Attempt) -> OutcomeKind | None:
    """What the reviewers did with the pull request; an edited one may be noted as merged, too."""
    last = attempt.last(REVIEWS)
    edited = last in MERGES and "edited before merge" in attempt.kinds
    return "edited before merge" if edited else last


def on_the_issue(attempt: Attempt) -> OutcomeKind | None:
    """What people did with the issue."""
    return attempt.last(ON_ISSUES)


JUDGES: tuple[Callable[[Attempt], OutcomeKind | None], ...] = (
    effect_of,
    doubted,
    reviewed,
    on_the_issue,
)
"""Asked in this order; the first that has something to say decides."""


def _judged(lesson: Lesson, attempt: Attempt) -> JudgedAnalysis:
    first = attempt.items[0]
    kind = next((said for judge in JUDGES if (said := judge(attempt))), None)
    measured = next((each for each in attempt.items if each.iterations or each.tokens), first)
    return JudgedAnalysis.model_validate(
        {
            "fingerprint": lesson.fingerprint,
            "said": first.confidence if first.confidence in ("high", "medium", "low") else None,
            "right": _right(attempt, kind) if kind else None,
            "kind": kind,
            "merged": bool(attempt.last(EFFECTS) or attempt.last(REVIEWS) in MERGES),
            **measured.model_dump(include={"told", "iterations", "tokens", "cost", "model"}),
        }
    )


def _right(attempt: Attempt, kind: OutcomeKind) -> float | None:
    if kind == "closed" and (attempt.merged_since or not any(e.fix for e in attempt.items)):
        return None
    right = OUTCOMES[kind].right
    if right and reviewed(attempt) == "edited before merge":
        return OUTCOMES["edited before merge"].right  # what worked is in part not ours
    return right


def _attempts(lesson: Lesson, items: list[PublishedItem]) -> Iterable[Attempt]:
    """Items of the same night, or with the same fix, come from the same analysis."""
    bunches: list[list[PublishedItem]] = []
    for item in items:
        own = next((bunch for bunch in bunches if any(_same(item, e) for e in bunch)), None)
        if own is None:
            bunches.append([item])
        else:
            own.append(item)
    merged = [any(each in MERGES + EFFECTS for each in _kinds(lesson, b)) for b in bunches]
    for at, bunch in enumerate(bunches):
        since = any(merged[:at] + merged[at + 1 :])
        yield Attempt(items=tuple(bunch), kinds=_kinds(lesson, bunch), merged_since=since)


def _same(one: PublishedItem, other: PublishedItem) -> bool:
    nights = (one.night or one.on) == (other.night or other.on)
    return nights or bool(one.fix and one.fix == other.fix)


def _kinds(lesson: Lesson, bunch: list[PublishedItem]) -> tuple[OutcomeKind, ...]:
    """What happened, oldest first; an item's own `outcome` is its last word."""
    numbers = {each.number for each in bunch}
    happened = [fate.kind for fate in lesson.fates if fate.number in numbers]
    return (*happened, *(kind for each in bunch for kind in OUTCOMES if kind == each.outcome))


def _name(item: PublishedItem) -> object:
    return (item.kind, item.number, item.on, item.night)
