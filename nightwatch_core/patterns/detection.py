"""PATTERN_RULES in their order, what they find together, and which patterns a case belongs to."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from itertools import combinations
from typing import TypeVar

from nightwatch_core.code.suspects import proved_change
from nightwatch_core.memory.limits import LONGEST_TITLE, MOST_RELATED_DOCUMENTS
from nightwatch_core.memory.occurrences import last_seen
from nightwatch_core.memory.recall import names_of_case as names
from nightwatch_core.memory.recall import seed_tags
from nightwatch_core.models.analysis import FELL_BACK, Analysis
from nightwatch_core.models.errors import Case
from nightwatch_core.models.knowledge import MERGED, TURNED_DOWN, Lesson, Pattern, RelatedDocument
from nightwatch_core.patterns.causes import (
    GENERIC_CLASSES,
    CauseTerms,
    Rarity,
    cause_terms,
    group_causes,
    shared_words,
)
from nightwatch_core.patterns.members import (
    MOST_MEMBERS,
    NIGHTS,
    all_occurrences,
    by_error,
    dates_seen,
    listed,
    most_frequent,
    open_lessons,
    pattern_of_lessons,
    shared_tags,
)
from nightwatch_core.patterns.nights import NightGroups
from nightwatch_core.patterns.unexplained import UNEXPLAINED, closings, unexplained, with_own_titles
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import plural
from nightwatch_core.text.transactions import endpoint
from nightwatch_core.text.words import last_segment

# Who is in a pattern of one night: cases under all of their names.

_LONGEST_TAG = 40  # characters


class CaseNames:
    """The names that lessons give to the cases of tonight."""

    def __init__(self, lessons: Iterable[Lesson]) -> None:
        self._own = {name: lesson.fingerprint for lesson in lessons for name in lesson.aliases}
        self._own |= {lesson.fingerprint: lesson.fingerprint for lesson in lessons}

    def name(self, analysis: Analysis) -> str:
        """The lesson's fingerprint, which stays when another group leads the case tonight."""
        of_case = (analysis.fingerprint, *sorted(names(analysis.case)))
        own = (self._own[item] for item in of_case if item in self._own)
        return next(own, analysis.fingerprint)


def pattern_of_cases(
    title: str,
    cases: list[Analysis],
    case_names: CaseNames,
    *,
    description: str,
    suggestion: str,
    because: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
) -> Pattern:
    """A pattern of cases of one night; the title holds no number, so that it stays the same."""
    groups = {group.fingerprint: group for case in cases for group in case.case.groups}
    titles = "; ".join(line(case.case.title, 120) for case in cases[:5])
    more = f" and {len(cases) - 5} more" if len(cases) > 5 else ""
    return Pattern(
        title=line(title, 120),
        description=f"{line(description, 300)} {titles}{more}.",
        pattern_type="systemic_issue",
        error_classes=most_frequent(case.case.leader.error_class for case in cases),
        modules=most_frequent(map(module, cases)),
        occurrences=sum(group.occurrences for group in groups.values()),
        suggestion=line(suggestion, 400),
        fingerprints=tuple(dict.fromkeys(map(case_names.name, cases)))[:MOST_MEMBERS],
        tags=tags or shared_tags(normalised_tags(case) for case in cases),
        because=tuple(line(reason, 200) for reason in because),
    )


def count_errors(cases: Iterable[Analysis], case_names: CaseNames) -> int:
    """Count the errors of the cases under all of their names."""
    return len({case_names.name(case) for case in cases})


def module(analysis: Analysis) -> str:
    """The file a case leads to, its transaction where no line of it was found in the code."""
    cited = next((e.path for e in analysis.evidence if e.verified), "")
    return cited or analysis.case.leader.transaction


def first_places(cases: list[Analysis]) -> str:
    """Return the first three places of the cases, in a line."""
    return ", ".join(most_frequent(map(module, cases))[:3]) or "these errors"


def normalised_tags(analysis: Analysis) -> tuple[str, ...]:
    """Return the analysis's tags in one spelling: short, lowercase, with hyphens."""
    kept = (tag for tag in analysis.tags if tag.strip() and tag != FELL_BACK)
    return tuple(line(tag, _LONGEST_TAG).lower().replace(" ", "-") for tag in kept)


def telling_tags(analysis: Analysis) -> frozenset[str]:
    """The tags that are no words of the case's class, transaction or folder, however spelt."""
    leader = analysis.case.leader
    own = (leader.error_class, module(analysis).rpartition("/")[0])
    names = set(map(_letters, (*own, *seed_tags(leader.error_class, leader.transaction))))
    return frozenset(tag for tag in normalised_tags(analysis) if _letters(tag) not in names)


def _letters(text: str) -> str:
    """Return a word's letters in lower case."""
    return "".join(char for char in text.lower() if char.isalnum())


# Rules that compare the cases of one night.

SHARING = 3  # cases that have to share their tags
ROLL_BACK = 2  # cases of some confidence before a rollback is suggested
# Tags by which an analyst says that the cause is outside the code and passes by itself.
TRANSIENT_TAGS = ("transient", "external-service", "network")
_OUTSIDE = frozenset(TRANSIENT_TAGS)
_WITHIN = {"race-condition", "database-lock"}  # passes by itself too, but between own runs
_MOST_PAIRS = 200  # analyses compared with each other
_MOST_OTHERS = 500  # lessons whose causes say which words are rare

Place = TypeVar("Place", str, tuple[str, int])  # a file, or a line of it


def same_cause(
    analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...], nights: Sequence[NightGroups] = ()
) -> list[Pattern]:
    """Return groups of tonight's cases that have the same cause, largest groups first.

    They are compared by their words and by the lines they cite (see `similarity`). Guesses do not
    count, and neither do causes outside the code: those are a pattern of their own.
    """
    case_names = CaseNames(lessons)
    sure = [item for item in analyses if item.confidence != "low" and not _is_outside(item)]
    cases = sure[:_MOST_PAIRS]
    causes = [
        cause_terms(case.root_cause, ((e.path, e.line) for e in case.evidence if e.verified))
        for case in cases
    ]
    own = {case_names.name(case) for case in cases}
    others = [lesson.root_cause for lesson in lessons if lesson.names.isdisjoint(own)]
    rarity = Rarity((*causes, *map(cause_terms, others[-_MOST_OTHERS:])))
    patterns = [
        _one_cause([cases[n] for n in group], [causes[n] for n in group], rarity, case_names)
        for group in group_causes(causes, rarity)
        if count_errors((cases[n] for n in group), case_names) > 1
    ]
    return sorted(patterns, key=lambda pattern: (-len(pattern.fingerprints), pattern.title))


def _one_cause(
    cases: list[Analysis], causes: list[CauseTerms], rarity: Rarity, case_names: CaseNames
) -> Pattern:
    words = ", ".join(shared_words(causes, rarity))
    cited, count = _most_cited([cause.lines for cause in causes])
    file, in_file = _most_cited([cause.files for cause in causes])
    place = f"{cited[0]}:{cited[1]}" if cited else file or ""
    named = place if cited else ": ".join(filter(None, (place, words))) or first_places(cases)
    because = (
        f"{count or in_file} of {len(cases)} rest on {place}" if place else "",
        f"all causes speak of {words}" if words else "",
    )
    best = max(cases, key=lambda case: (case.score, case.has_fix))
    changes = {proved_change(case) for case in cases}
    change = changes.pop() if len(changes) == 1 else ""
    introduced = f" (came with {change})" if change else ""
    remedy = f"Fix {place or words or first_places(cases)} first{introduced}"
    return pattern_of_cases(
        f"One cause{' in' if place else ':'} {named}",
        cases,
        case_names,
        description=f"{len(cases)} errors of one night have the same cause.",
        suggestion=f"{remedy}: {best.root_cause}",
        because=tuple(filter(None, because)),
    )


def _most_cited(cited: Sequence[frozenset[Place]]) -> tuple[Place | None, int]:
    """The place that most of the cases cite; None where not two, and half of them, cite one."""
    counted = Counter(place for item in cited for place in item)
    place, count = min(counted.items(), key=lambda item: (-item[1], item[0]), default=(None, 0))
    return (place, count) if count > 1 and 2 * count >= len(cited) else (None, 0)


def same_change(
    analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...], nights: Sequence[NightGroups] = ()
) -> list[Pattern]:
    """Return groups of tonight's cases that were traced to a commit of one merged change."""
    case_names = CaseNames(lessons)
    traced: dict[str, list[Analysis]] = defaultdict(list)
    for analysis in analyses:
        if change := proved_change(analysis):
            traced[change].append(analysis)
    patterns = []
    for change, cases in traced.items():
        is_sure = sum(case.confidence != "low" for case in cases) >= ROLL_BACK
        roll_back = ", and roll it back if no fix is at hand" if is_sure else ""
        if count_errors(cases, case_names) > 1:
            pattern = pattern_of_cases(
                f"One change behind several errors: {change}",
                cases,
                case_names,
                description=f"{len(cases)} errors of one night are traced to {change}.",
                suggestion=f"Review {change}{roll_back}.",
                because=(f"each analysis names a commit of {change}",),
            )
            patterns.append(pattern)
    return patterns


def same_tags(
    analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...], nights: Sequence[NightGroups] = ()
) -> list[Pattern]:
    """Return groups of three cases or more that share two tags or more, largest groups first.

    Words of a case's class or transaction are names, which say nothing about the cause.
    """
    case_names = CaseNames(lessons)
    confident = [item for item in analyses if item.confidence != "low"][:_MOST_PAIRS]
    tagged = [(item, telling_tags(item) - _OUTSIDE) for item in confident]
    themes = {tags & others for (_, tags), (_, others) in combinations(tagged, 2)}
    by_theme = {
        tuple(sorted(theme)): cases
        for theme in themes
        if len(theme) > 1
        and (cases := [item for item, tags in tagged if theme <= tags])
        and count_errors(cases, case_names) >= SHARING
    }
    ranked = sorted(by_theme, key=lambda theme: (-len(by_theme[theme]), -len(theme), theme))
    return [
        pattern_of_cases(
            f"Shared theme: {', '.join(theme)}",
            by_theme[theme],
            case_names,
            description=f"{len(by_theme[theme])} errors of one night share these tags.",
            suggestion=f"Look for one remedy in {first_places(by_theme[theme])}.",
            because=(f"all are tagged {', '.join(theme)}",),
            tags=theme,
        )
        for theme in ranked
    ]


def all_transient(
    analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...], nights: Sequence[NightGroups] = ()
) -> list[Pattern]:
    """Return the cases of tonight that have no fix because the failure is outside the code.

    Guesses count: the error itself shows it, however little is known about the cause.
    """
    case_names = CaseNames(lessons)
    cases = [analysis for analysis in analyses if _is_outside(analysis)]
    if count_errors(cases, case_names) < 2:
        return []
    tags = sorted({tag for case in cases for tag in normalised_tags(case)} & _OUTSIDE)
    pattern = pattern_of_cases(
        "Errors from outside the code",
        cases,
        case_names,
        description=f"{len(cases)} errors of one night have no fix: what failed is outside.",
        suggestion=f"Bound the calls in {first_places(cases)} with timeouts, retries and a "
        "fallback.",
        because=(f"none has a fix, and each is tagged {' or '.join(tags)}",),
    )
    return [pattern.model_copy(update={"pattern_type": "transient_noise"})]


def _is_outside(analysis: Analysis) -> bool:
    tags = {*normalised_tags(analysis)}
    return not analysis.has_fix and bool(_OUTSIDE & tags) and not _WITHIN & tags


# Rules that compare lessons over nights.

WAYS = 3  # in which a file has to break
_MOST_IN_FILE = 100  # lessons of one file whose causes are compared


def recurring_class(
    analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...], nights: Sequence[NightGroups] = ()
) -> list[Pattern]:
    """Return the classes that open lessons saw on three nights or more, the last of them lately.

    One case that comes back three times counts like three cases that come once each. But a class
    that a language raises for everything has to come back in one file: elsewhere it is another
    error with the same name.
    """
    by_class: dict[tuple[str, str], list[Lesson]] = defaultdict(list)
    for lesson in open_lessons(lessons):
        generic = last_segment(lesson.error_class) in GENERIC_CLASSES
        place = (lesson.module or lesson.transaction) if generic else ""
        by_class[lesson.error_class, place].append(lesson)
    patterns = []
    for (name, file), held in by_class.items():
        days = dates_seen(held)
        location = f" in {line(file, 60)}" if file else ""
        places = listed(most_frequent(item.module or item.transaction for item in held))
        where = "" if file else f" in {places or 'unknown places'}"
        if len(days) >= NIGHTS:
            often = plural(all_occurrences(held), "time")
            pattern = pattern_of_lessons(
                f"{line(name, 120 - 20 - len(location))} keeps occurring{location}",
                held,
                pattern_type="recurring_error",
                description=f"{often}{where}.",
                suggestion=_against_recurrence(held),
            )
            patterns.append(pattern)
    return patterns


def hot_spot(
    analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...], nights: Sequence[NightGroups] = ()
) -> list[Pattern]:
    """Return the files that broke in three ways or more, on three nights or more.

    Only the file a finding leads to counts: files that everything passes through are cited often
    and seldom at fault. Errors with similar causes are one way.
    """
    by_file: dict[str, list[Lesson]] = defaultdict(list)
    for lesson in open_lessons(lessons):
        if lesson.module and (lesson.confidence != "low" or lesson.evidence):
            by_file[lesson.module].append(lesson)
    patterns = []
    for file, held in by_file.items():
        days = dates_seen(held)
        if len(days) < NIGHTS:
            continue
        last = [lessons_of[-1] for lessons_of in by_error(held[-_MOST_IN_FILE:])]
        causes = [
            cause_terms(item.root_cause, ((cited.path, cited.line) for cited in item.evidence))
            for item in last
        ]
        ways = len(group_causes(causes, Rarity(causes)))
        classes = listed(most_frequent(item.error_class for item in held))
        if ways >= WAYS:
            pattern = pattern_of_lessons(
                f"{line(file, 90)} breaks in many ways",
                held,
                pattern_type="systemic_issue",
                description=f"{ways} different causes: {classes}.",
                suggestion=f"Review {line(file, 200)} as a whole, and test it, before the next "
                "fix.",
            )
            patterns.append(pattern)
    return patterns


def _against_recurrence(lessons: list[Lesson]) -> str:
    worst = max(lessons, key=lambda lesson: (len(lesson.nights), lesson.occurrences))
    issue = f" (issue #{worst.issue_number})" if worst.issue_number else ""
    place = worst.module or worst.transaction or worst.error_class
    if worst.watch and worst.outcome in MERGED:
        name = f"{worst.watch.sign}{worst.watch.number}"
        return f"The fix of pull request {name} was merged: see it help."
    if worst.has_fix and worst.outcome not in TURNED_DOWN:
        return f"A fix for {place} is known{issue} and not in production: ship it."
    turned = f" (its fix: {worst.outcome})" if worst.has_fix else ""
    return f"No fix is known for {place}{issue}{turned}: {worst.root_cause}"


# All rules together, and patterns that documents know from earlier nights.

MOST_NIGHTS = 60
MOST_PLACES = 20
LIMIT = 3
MOST = 10

PatternRule = Callable[
    [tuple[Analysis, ...], tuple[Lesson, ...], Sequence[NightGroups]], list[Pattern]
]

# In this order: a later rule does not repeat an earlier one.
PATTERN_RULES: tuple[tuple[str, PatternRule], ...] = (
    ("same_cause", same_cause),
    ("same_change", same_change),
    ("recurring_class", recurring_class),
    ("same_tags", same_tags),
    ("hot_spot", hot_spot),
    ("all_transient", all_transient),
    (UNEXPLAINED, unexplained),
)
_OVER_NIGHTS = ("recurring_class", "hot_spot")
# Rules whose title may change while the errors stay: a line moves, a theme gains a tag.
_BY_MEMBERS = ("same_cause", "same_tags")


def detect(
    analyses: tuple[Analysis, ...],
    lessons: tuple[Lesson, ...],
    kept_patterns: tuple[Pattern, ...] = (),
    on: date | None = None,
    nights: Sequence[NightGroups] = (),
    ignored: frozenset[str] = frozenset(),
) -> tuple[Pattern, ...]:
    """Return patterns in tonight's analyses and in the lessons, most occurrences first.

    Where two rules of one night find the same errors, or one finds a part of what an earlier one
    found, only the earlier one counts; likewise for rules over nights. One of `kept_patterns`,
    those with a document, keeps its title. `on` is tonight's date: the night of those that no
    lesson dates. Patterns none of whose errors came on that date are left out. Errors with an
    unknown cause, but for the `ignored` ones, are a matter of the last rule alone. At most 10 are
    returned of those, and of all others; the ones that end follow. `nights` are the comparable
    ones, `ignored` the names of tonight's errors that an ignore rule covers.
    """
    of_analyses = tuple(analysis for analysis in analyses if analysis.has_cause)
    of_lessons = tuple(lesson for lesson in lessons if lesson.has_cause)
    came = frozenset[str]().union(*(names(item.case) for item in analyses))
    hidden = frozenset(
        item.fingerprint
        for item in lessons
        if not item.names.isdisjoint(ignored) and item.names.isdisjoint(came)
    )
    left = tuple(item for item in lessons if item.fingerprint not in hidden)
    kept: list[Pattern] = []
    for name, rule in PATTERN_RULES:
        every = left if name == UNEXPLAINED else of_lessons
        for pattern in rule(of_analyses, every, nights):
            dates = pattern.nights or ((on,) if on else ())
            if on and dates[-1] < on:
                continue  # none of its errors came tonight
            named = pattern.model_copy(update={"rule": name, "nights": dates})
            if not any(_repeats(named, earlier) for earlier in kept):
                kept.append(named)
    ranked = sorted(kept, key=lambda pattern: (-pattern.occurrences, pattern.title))
    known = [pattern for pattern in ranked if pattern.rule != UNEXPLAINED]
    unknown = [pattern for pattern in ranked if pattern.rule == UNEXPLAINED]
    titled = with_own_titles(unknown[:MOST], kept_patterns)
    opened = (pattern.model_copy(update={"opened": on}) for pattern in titled)
    ended = closings(kept_patterns, lessons, nights, hidden, on) if on else ()
    return (*with_known_titles(known[:MOST], kept_patterns), *opened, *ended)


def _repeats(pattern: Pattern, earlier: Pattern) -> bool:
    both = (pattern, earlier)
    sorts = {"over nights" if p.rule in _OVER_NIGHTS else p.pattern_type for p in both}
    return len(sorts) == 1 and set(pattern.fingerprints) <= set(earlier.fingerprints)


def with_known_titles(found: Iterable[Pattern], before: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """Return the patterns, each under the title it has in its document where there is one.

    A pattern is the known one of the same title, or, where the title follows the code, of the same
    rule and at least half of whose errors, two or more, are known members.
    """
    patterns = list(found)
    titles = {pattern.title for pattern in patterns}
    free = [item for item in before if item.title not in titles and item.rule in _BY_MEMBERS]
    taken = {item.title for item in before}
    named = []
    for pattern in patterns:
        members = set(pattern.fingerprints)
        enough = max(2, (len(members) + 1) // 2)
        alike = (item for item in free if item.rule == pattern.rule)
        same = [i for i in alike if len(members.intersection(i.fingerprints)) >= enough]
        if same and pattern.title not in taken:
            free.remove(same[0])
            pattern = pattern.model_copy(update={"title": same[0].title})
        named.append(pattern)
    return tuple(named)


def merge_pattern(found: Pattern, earlier: Pattern | None, on: date | None = None) -> Pattern:
    """Return the pattern as its document holds it after one more night; `on` is such a night.

    Text, occurrences and suggestion are the newest. Nights, members, classes and modules are
    united, newest members first; the first night is never forgotten. The same night twice changes
    nothing.
    """
    nights = sorted({*found.nights, *(earlier.nights if earlier else ()), *((on,) if on else ())})
    bounded = nights if len(nights) <= MOST_NIGHTS else (nights[0], *nights[1 - MOST_NIGHTS :])
    update: dict[str, object] = {"nights": tuple(bounded)}
    if earlier is not None:
        update |= {
            "title": earlier.title,
            "fingerprints": _united(found.fingerprints, earlier.fingerprints, MOST_MEMBERS),
            "error_classes": _united(found.error_classes, earlier.error_classes, MOST_PLACES),
            "modules": _united(found.modules, earlier.modules, MOST_PLACES),
        }
        if earlier.opened and (found.closed or not earlier.closed):
            update["opened"] = earlier.opened
    return found.model_copy(update=update)


def _united(new: tuple[str, ...], old: tuple[str, ...], most: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*new, *old)))[:most]


def patterns_for(
    case: Case, patterns: tuple[Pattern, ...], limit: int = LIMIT
) -> tuple[Pattern, ...]:
    """Return known patterns about the case, nearest first, then the newest, at most `limit`.

    The case is a member by one of its names, or its class and its file or module are the pattern's.
    Where a document names only a class, or only places, that is enough, unless the class is a
    generic one. Patterns of errors without a known cause have nothing to say about one.
    """
    top = case.trace.top if case.trace else None
    places = {group.transaction for group in case.groups}
    places |= {endpoint(transaction).module for transaction in places}
    places = (places | ({top.repo_path or top.path} if top else set())) - {""}
    error_class, own = case.leader.error_class, names(case)
    explained = (pattern for pattern in patterns if pattern.rule != UNEXPLAINED)
    near = [(_nearness(own, error_class, places, pattern), pattern) for pattern in explained]
    near = [(points, item) for points, item in near if points]
    near.sort(key=lambda pair: (-pair[0], _age(pair[1]), -pair[1].occurrences, pair[1].title))
    return tuple(item for _, item in near[:limit])


def _nearness(own: frozenset[str], error_class: str, places: set[str], pattern: Pattern) -> int:
    """3 for a member, 2 for its class in its place, 1 where only one of them is named; else 0."""
    if not own.isdisjoint(pattern.fingerprints):
        return 3
    same_class = error_class in pattern.error_classes
    same_place = not places.isdisjoint(pattern.modules)
    if same_class and same_place:
        return 2
    if pattern.rule == "hot_spot" or not pattern.error_classes:
        return int(same_place)
    is_generic = last_segment(error_class) in GENERIC_CLASSES
    return int(same_class and not pattern.modules and not is_generic)


def _age(pattern: Pattern) -> int:
    return -pattern.nights[-1].toordinal() if pattern.nights else 0


def related_to_patterns(
    lessons: tuple[Lesson, ...], patterns: Mapping[str, Pattern]
) -> tuple[Lesson, ...]:
    """Return the lessons whose related documents have changed, each with those of today.

    `patterns` maps a document's file to its pattern. A pattern that is gone, or no longer names the
    error, leaves the lesson; so does a similar error whose lesson is gone. Of either kind the
    newest five are kept. A lesson without a cause has none.
    """
    by_name = {name: lesson for lesson in lessons for name in lesson.names}
    today = ((lesson, _documents(lesson, patterns, by_name)) for lesson in lessons)
    return tuple(
        item.model_copy(update={"related_patterns": documents})
        for item, documents in today
        if documents != item.related_patterns
    )


def _documents(
    lesson: Lesson, patterns: Mapping[str, Pattern], by_name: Mapping[str, Lesson]
) -> tuple[RelatedDocument, ...]:
    if not lesson.has_cause:
        return ()
    explained = ((f, item) for f, item in patterns.items() if item.rule != UNEXPLAINED)
    own = [(file, item) for file, item in explained if _is_about(item, lesson)]
    own.sort(key=lambda pair: (_age(pair[1]), pair[0]))
    similar = {by_name[name].file: by_name[name] for name in lesson.related if name in by_name}
    elsewhere = (item for file, item in similar.items() if file not in ("", lesson.file))
    others = [item for item in elsewhere if item.has_cause]
    others.sort(key=lambda item: (-last_seen(item).toordinal(), item.file))
    rows = [(file, item.title, item.suggestion) for file, item in own[:MOST_RELATED_DOCUMENTS]]
    for other in others[:MOST_RELATED_DOCUMENTS]:
        where = f" in {other.transaction}" if other.transaction else ""
        note = f"{other.error_class}{where}, last seen {last_seen(other)}"
        rows.append((other.file, other.title or other.error_class, note))
    return tuple(
        RelatedDocument(file=file, title=line(title, LONGEST_TITLE), note=line(note, 250))
        for file, title, note in rows
    )


def _is_about(pattern: Pattern, lesson: Lesson) -> bool:
    """Tell whether a lesson is a member, or near to what people wrote."""
    places = {lesson.module, lesson.transaction} - {""}
    near = _nearness(lesson.names, lesson.error_class, places, pattern)
    return near == 3 or (near > 0 and not pattern.rule)
