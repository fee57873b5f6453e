"""The share of analyses of this installation that proved right, by confidence.

People and production say it of each finding: right, wrong, or not yet decided.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nightwatch_core.models import knowledge
from nightwatch_core.models.analysis import Analysis, TrackRecord
from nightwatch_core.models.answer import Confidence
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import SINGLE_RUN, RunReport

NOMINAL: dict[Confidence, float] = {"high": 0.9, "medium": 0.6, "low": 0.3}
"""The probability that each word stands for, before there is any history; highest first."""

PRIOR_WEIGHT = 4.0  # decided findings that the nominal probability counts as much as
MINIMUM = 10  # decided findings in all before our own probability is said
LOWERING_NEEDS = 5  # decided findings of that very confidence before it is lowered


class Mark(NamedTuple):
    """One outcome's verdict on the finding behind it."""

    right: float | None  # 0 to 1; None: it decides nothing
    label: str


# A merge counts as a reviewer's approval of cause and fix, until production has shown the effect.
# An edit before the merge counts half. An issue that is closed as done decides only where it held
# our fix: otherwise somebody may have found another.
OUTCOMES: dict[knowledge.OutcomeKind, Mark] = {
    "verified": Mark(1.0, "verified in production"),
    "merged": Mark(1.0, "merged"),
    "closed": Mark(1.0, "issue closed as done with our fix in it"),
    "edited before merge": Mark(0.5, "edited before merge, verified later or not"),
    "closed unmerged": Mark(0.0, "closed unmerged"),
    "not planned": Mark(0.0, "issue closed as not planned"),
    "no effect": Mark(0.0, "merged without effect"),
    "regressed": Mark(0.0, "came back after the fix"),
    "useful": Mark(1.0, "marked as useful"),
    "wrong": Mark(0.0, "marked as wrong"),
    "reopened": Mark(None, "issue reopened, effect not measured"),
}
EFFECTS: tuple[knowledge.OutcomeKind, ...] = ("verified", "no effect", "regressed")
REVIEWS: tuple[knowledge.OutcomeKind, ...] = (*knowledge.MERGED, "closed unmerged")
ON_ISSUES: tuple[knowledge.OutcomeKind, ...] = ("closed", "not planned", "reopened")


class Judgement(NamedTuple):
    """Outcome of one published analysis: its issue and pull request count as one."""

    stated_confidence: str
    right: float | None  # 0 wrong, 1 right, between: in part; None: undecided
    kind: knowledge.OutcomeKind | None  # what decided it, or happened last; None: nothing yet
    merged: bool


def chance(confidence: str, board: knowledge.Scoreboard) -> float | None:
    """Return this installation's probability that a finding of this confidence proves right.

    It is the mean of a Beta distribution around the nominal probability. None below `MINIMUM`
    decided findings in all, and where none of this confidence is decided.
    """
    tier = _tier(confidence, board)
    if tier is None or not tier.found.decided or board.found.decided < MINIMUM:
        return None
    return (PRIOR_WEIGHT * tier.nominal + tier.found.right) / (PRIOR_WEIGHT + tier.found.decided)


def _tier(confidence: str, board: knowledge.Scoreboard) -> knowledge.ConfidenceTier | None:
    return next((tier for tier in board.tiers if tier.stated_confidence == confidence), None)


def calibrated(analysis: Analysis, board: knowledge.Scoreboard) -> Analysis:
    """Add its chance to an analysis, and lower its confidence where the record asks for it.

    A confidence is lowered by one step where its chance falls below what the next lower word
    promises; `stated_confidence` keeps the analyst's own. It is never raised. An analysis that has
    no cause, or was calibrated before, stays as it is.
    """
    tier, ours = _tier(analysis.confidence, board), chance(analysis.confidence, board)
    if tier is None or ours is None or analysis.chance is not None or not analysis.has_cause:
        return analysis
    right, decided = tier.found.right, tier.found.decided
    because = (
        f"findings said {tier.stated_confidence} proved right {right:g} of {decided:,} times here"
    )
    update: dict[str, object] = {
        "chance": ours,
        "track_record": TrackRecord(
            stated_confidence=tier.stated_confidence, right=right, decided=decided
        ),
    }
    lower = next((word for word, nominal in NOMINAL.items() if nominal < tier.nominal), None)
    if lower and decided >= LOWERING_NEEDS and ours < NOMINAL[lower]:
        because = f"{because}: said {lower} instead"
        update |= {
            "confidence": lower,
            "stated_confidence": analysis.stated_confidence or analysis.confidence,
        }
    return analysis.model_copy(update={**update, "because": (*analysis.because, because)})


def scoreboard(lessons: Iterable[knowledge.Lesson]) -> knowledge.Scoreboard:
    """Build the board of everything that `lessons`, archived ones included, were published for."""
    judged = judgements(lessons)
    tiers = []
    for word, nominal in NOMINAL.items():
        own = [item for item in judged if item.stated_confidence == word]
        tier = knowledge.ConfidenceTier(
            stated_confidence=word,
            nominal=nominal,
            found=_success(own),
            merged=sum(item.merged for item in own),
            verified=sum(item.kind == "verified" for item in own),
            rejected=sum(item.right == 0 for item in own),
        )
        tiers.append(tier)
    return knowledge.Scoreboard(found=_success(judged), tiers=tuple(tiers))


def _success(judged: Sequence[Judgement]) -> knowledge.SuccessRate:
    rights = [item.right for item in judged if item.right is not None]
    share = sum(rights) / len(rights) if rights else None
    return knowledge.SuccessRate(
        times=len(judged), decided=len(rights), right=sum(rights), share=share
    )


def judgements(lessons: Iterable[knowledge.Lesson]) -> tuple[Judgement, ...]:
    """Judge each analysis whose issue or pull request was published.

    Items with the same fix come from the same analysis; without a fix, items of the same night.
    One that named no cause can be neither right nor wrong. What people said of an error itself is
    about its last analysis, published or not.
    """
    judged = []
    for lesson in lessons:
        attempts: dict[str, list[knowledge.PublishedItem]] = defaultdict(list)
        for item in lesson.proposed:
            if item.has_cause:
                attempts[item.fix or item.night or item.on.isoformat()].append(item)
        said = any(e.number is None and e.kind in knowledge.FEEDBACK for e in lesson.outcomes)
        if said and not attempts and lesson.has_cause:
            unpublished = knowledge.PublishedItem(
                kind="issue", number=0, on=lesson.first_detected, confidence=lesson.confidence
            )
            attempts[""] = [unpublished]
        ends = [*attempts][-1:]
        pairs = attempts.items()
        judged += [_judged(lesson, items, unnumbered=name in ends) for name, items in pairs]
    return tuple(judged)


def _judged(
    lesson: knowledge.Lesson, items: list[knowledge.PublishedItem], *, unnumbered: bool
) -> Judgement:
    """Judge one attempt: production's word first, then people's on the finding, on its items."""
    numbers = {item.number for item in items} | ({None} if unnumbered else set())
    kinds = [event.kind for event in lesson.outcomes if event.number in numbers]
    kinds += [item.outcome for item in items if item.outcome in OUTCOMES]

    def last(family: tuple[knowledge.OutcomeKind, ...]) -> knowledge.OutcomeKind | None:
        return next((kind for kind in reversed(kinds) if kind in family), None)

    effect, review, on_issue = last(EFFECTS), last(REVIEWS), last(ON_ISSUES)
    effect = effect or last(knowledge.FEEDBACK)
    is_merged = review in knowledge.MERGED
    is_taken_back = is_merged and on_issue == "reopened"  # until the effect is measured
    kind = effect or (on_issue if is_taken_back else review or on_issue)
    right = OUTCOMES[kind].right if kind else None
    if kind == "closed" and not any(item.fix for item in items):
        right = None
    elif right and is_merged and "edited before merge" in kinds:
        right = OUTCOMES["edited before merge"].right  # what worked is in part not ours
    is_merged = is_merged or effect in EFFECTS
    return Judgement(items[0].confidence, right, kind, is_merged)


def duplicate_rate(reports: Iterable[RunReport]) -> knowledge.DuplicateRate:
    """Count the fresh analyses of nights, newest first, that an earlier one of them made needless.

    Such an analysis names a cause whose quoted lines an earlier night had quoted, unchanged: any of
    them for the same error, the first one for another error. Dry runs, runs of one error and forced
    nights repeat analyses on purpose and are left out, and fixes that were asked for alone count as
    no duplicates.
    """
    nights = [
        [analysis for analysis in report.analyses if analysis.ending.kind != "reused"]
        for report in reversed([*reports])
        if not (report.options.dry_run or report.options.force)
        if not report.night.id.startswith(SINGLE_RUN)
    ]
    known: set[tuple[str, _Quote]] = set()  # names of an error, and what was quoted for it
    first: set[_Quote] = set()
    duplicates = 0
    for analyses in nights:
        found = [(item, quotes) for item in analyses if (quotes := _quotes(item))]
        for item, quotes in found:
            is_same = any((name, quote) in known for name in _names(item) for quote in quotes)
            duplicates += not item.fix_alone and (is_same or quotes[0] in first)
        known |= {
            (name, quote) for item, quotes in found for name in _names(item) for quote in quotes
        }
        first |= {quotes[0] for _, quotes in found}
    count = sum(map(len, nights))
    return knowledge.DuplicateRate(
        nights=len(nights),
        analyses=count,
        duplicates=duplicates,
        share=duplicates / count if count else None,
    )


_Quote = tuple[str, str]  # path, and the quoted line


def _quotes(analysis: Analysis) -> tuple[_Quote, ...]:
    """Return the verified quotes of a cause; empty without one."""
    verified = (quote for quote in analysis.evidence if quote.verified and analysis.has_cause)
    return tuple((quote.path, " ".join(quote.quote.split())) for quote in verified)


def _names(analysis: Analysis) -> frozenset[str]:
    return frozenset((analysis.fingerprint, *analysis.case.aliases, *analysis.known_as))


def with_drafts(board: knowledge.Scoreboard, own: Iterable[OwnItem]) -> knowledge.Scoreboard:
    """Add the outcomes of all our pull requests, as the tracker holds them; none: not read."""
    pulls = [item for item in own if item.kind == "pull"]
    states = Counter(pull.state for pull in pulls)
    checks = Counter(pull.checks for pull in pulls)
    waiting = Counter(pull.checks for pull in pulls if pull.state == "open" and pull.checks)
    if not pulls:
        return board
    rate = knowledge.DraftRate(
        drafts=len(pulls),
        merged=states["merged"],
        rejected=states["closed"],
        passed=checks["passed"],
        failed=checks["failed"],
        known=states["merged"] + waiting.total() + states["closed"],
        good=states["merged"] + waiting["passed"],
    )
    return board.model_copy(update={"drafts": rate})
