"""PATTERN_RULES in their order, what they find together, and which patterns a case belongs to."""

from collections.abc import Callable, Iterable
from datetime import date

from nightwatch_core.memory.recall.seed_score import names
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.pattern import Pattern
from nightwatch_core.patterns.common_words import GENERIC_CLASSES
from nightwatch_core.patterns.members import MOST_MEMBERS
from nightwatch_core.patterns.rules_over_nights import hot_spot, recurring_class
from nightwatch_core.patterns.rules_tonight import all_transient, same_cause, same_change, same_tags
from nightwatch_core.text.error_classes import last_segment
from nightwatch_core.text.transactions import endpoint

MOST_NIGHTS = 60
MOST_PLACES = 20
LIMIT = 3
# Rules whose title may change while the errors stay: a line moves, a theme gains a tag.
_BY_MEMBERS = ("same_cause", "same_tags")
MOST = 10

PatternRule = Callable[[tuple[Analysis, ...], tuple[Lesson, ...]], list[Pattern]]

# In this order: what an earlier rule told, a later one does not repeat.
PATTERN_RULES: tuple[tuple[str, PatternRule], ...] = (
    ("same_cause", same_cause),
    ("same_change", same_change),
    ("recurring_class", recurring_class),
    ("same_tags", same_tags),
    ("hot_spot", hot_spot),
    ("all_transient", all_transient),
)
_OVER_NIGHTS = ("recurring_class", "hot_spot")


def detect(
    analyses: tuple[Analysis, ...],
    lessons: tuple[Lesson, ...],
    known: tuple[Pattern, ...] = (),
    on: date | None = None,
) -> tuple[Pattern, ...]:
    """Patterns in tonight's analyses and in the lessons, most occurrences first, at most 10.

    Where two rules of one night find the same errors, or one finds a part of what an earlier one
    found, only the earlier one speaks; likewise for rules over nights. A pattern that is `known`
    from documents keeps its title. `on` is tonight's date: the night of those that no lesson dates.
    Errors without a known cause have nothing in common that anybody knows.
    """
    analyses = tuple(one for one in analyses if one.has_cause)
    lessons = tuple(one for one in lessons if one.has_cause)
    kept: list[Pattern] = []
    for name, rule in PATTERN_RULES:
        for pattern in rule(analyses, lessons):
            nights = pattern.nights or ((on,) if on else ())
            named = pattern.model_copy(update={"rule": name, "nights": nights})
            if not any(_says_no_more(named, earlier) for earlier in kept):
                kept.append(named)
    ranked = sorted(kept, key=lambda pattern: (-pattern.occurrences, pattern.title))
    return with_known_titles(ranked[:MOST], known)


def _says_no_more(pattern: Pattern, told: Pattern) -> bool:
    """Whether its errors were told already; a history of nights is news of its own."""
    return _sort(pattern) == _sort(told) and set(pattern.fingerprints) <= set(told.fingerprints)


def _sort(pattern: Pattern) -> str:
    return "over nights" if pattern.rule in _OVER_NIGHTS else pattern.pattern_type


def with_known_titles(found: Iterable[Pattern], known: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """The patterns, each under the title it has in its document where there is one.

    A pattern is the known one of the same title, or, where the title follows the code, of the same
    rule and at least half of whose errors, two or more, are known members.
    """
    patterns = list(found)
    free = [one for one in known if one.title not in {pattern.title for pattern in patterns}]
    kept = {one.title for one in known}
    named = []
    for pattern in patterns:
        same = None if pattern.title in kept else _by_members(pattern, free)
        if same is not None:
            free.remove(same)
            pattern = pattern.model_copy(update={"title": same.title})
        named.append(pattern)
    return tuple(named)


def _by_members(pattern: Pattern, known: list[Pattern]) -> Pattern | None:
    if pattern.rule not in _BY_MEMBERS:
        return None
    members = set(pattern.fingerprints)
    shared = [(len(members & set(one.fingerprints)), one) for one in known]
    enough = max(2, (len(members) + 1) // 2)
    same = [(count, one) for count, one in shared if count >= enough and one.rule == pattern.rule]
    return max(same, key=lambda pair: (pair[0], pair[1].title))[1] if same else None


def merge_pattern(found: Pattern, known: Pattern | None, on: date | None = None) -> Pattern:
    """The pattern as its document holds it after one more night; `on` is a night it was found.

    What was found last stands: text, occurrences, suggestion. Nights, members, classes and modules
    are united, newest members first; the first night is never forgotten. The same night twice
    changes nothing.
    """
    nights = {*found.nights, *(known.nights if known else ()), *((on,) if on else ())}
    update: dict[str, object] = {"nights": _bounded(sorted(nights))}
    if known is not None:
        update |= {
            "title": known.title,
            "fingerprints": _united(found.fingerprints, known.fingerprints, MOST_MEMBERS),
            "error_classes": _united(found.error_classes, known.error_classes, MOST_PLACES),
            "modules": _united(found.modules, known.modules, MOST_PLACES),
        }
    return found.model_copy(update=update)


def _united(new: tuple[str, ...], old: tuple[str, ...], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*new, *old)))[:most]


def _bounded(nights: list[date]) -> tuple[date, ...]:
    """The first, and the newest."""
    return tuple(nights if len(nights) <= MOST_NIGHTS else (nights[0], *nights[1 - MOST_NIGHTS :]))


def patterns_for(
    case: Case, patterns: tuple[Pattern, ...], limit: int = LIMIT
) -> tuple[Pattern, ...]:
    """Known patterns that speak of the case, nearest first, then found last, at most `limit`.

    The case is a member by one of its names, or its class and its file or module are the pattern's.
    Where a document names only a class, or only places, that is enough, unless every application
    has that class.
    """
    near = [(_nearness(case, one), one) for one in patterns]
    near_first = [(points, one) for points, one in near if points]
    near_first.sort(key=lambda pair: (-pair[0], *_age(pair[1])))
    return tuple(one for _, one in near_first[:limit])


def _nearness(case: Case, pattern: Pattern) -> int:
    """3 for a member, 2 for its class in its place, 1 where only one of them is named; else 0."""
    if not names(case).isdisjoint(pattern.fingerprints):
        return 3
    name = case.leader.error_class
    same_class = name in pattern.error_classes
    same_place = not _places(case).isdisjoint(pattern.modules)
    if same_class and same_place:
        return 2
    if pattern.rule == "hot_spot" or not pattern.error_classes:
        return int(same_place)
    return int(same_class and not pattern.modules and last_segment(name) not in GENERIC_CLASSES)


def _places(case: Case) -> frozenset[str]:
    """Where the case fails, as modules are written: file, transaction, module of a transaction."""
    top = case.trace.top if case.trace else None
    transactions = (group.transaction for group in case.groups)
    places = {place for one in transactions for place in (one, endpoint(one).module)}
    return frozenset(places | ({top.repo_path or top.path} if top else set())) - {""}


def _age(pattern: Pattern) -> tuple[int, int, str]:
    last = pattern.nights[-1].toordinal() if pattern.nights else 0
    return -last, -pattern.occurrences, pattern.title
