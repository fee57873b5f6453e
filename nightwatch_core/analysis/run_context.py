"""Which facts of the night an error is told, and whether its finding used them.

Told is what touches the error: it fails in the file, it names the thing, the same change is
suspected. What merely happened in the same night is noise, and says nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta

from nightwatch_core.analysis.limits import NEAR_LINES, RUN_CONTEXT, RUN_FACTS, RUN_QUOTE
from nightwatch_core.analysis.run_facts import Gathered, run_fact
from nightwatch_core.analysis.second_look import LEAST_SCORE
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.models.run_context import HandedFact, RunFact
from nightwatch_core.text.error_classes import last_segment
from nightwatch_core.text.plain_text import one_line, shortened

_NEAR = timedelta(minutes=30)
_SHORTEST = 4  # characters of a name that can be looked for
_LONG = 9  # characters from which on a plain word is taken for a name


def facts_found(analyses: Iterable[Analysis]) -> tuple[RunFact, ...]:
    """Draw facts from findings: lines that were looked up, never what was said about them."""
    return tuple(one for analysis in analyses if _teaches(analysis) for one in _causes(analysis))


def told(
    facts: Iterable[RunFact], one: Gathered, family: frozenset[str]
) -> tuple[tuple[RunFact, str], ...]:
    """Choose what an error is told, each with the reason, the closest first.

    At most ten lines and 1,500 characters together. What was drawn from its own family alone is
    left out: the family is told more than that.
    """
    others = [(fact, _rated(fact, one)) for fact in facts if not set(fact.sources) <= family]
    close = [(fact, rating) for fact, rating in others if rating[0] >= _LEAST]
    close.sort(key=lambda each: -each[1][0])
    chosen, left = list[tuple[RunFact, str]](), RUN_CONTEXT
    for fact, (_, because) in close[:RUN_FACTS]:
        left -= len(fact.text) + 1
        if left < 0:
            break
        chosen.append((fact, because))
    return tuple(chosen)


def handed(research: ResearchContext, finding: Analysis) -> tuple[HandedFact, ...]:
    """Say for every fact that was told whether the finding rests on it."""
    return tuple(
        HandedFact(text=one.text, because=because, used=_used(one, finding))
        for one, because in zip(research.run_facts, research.run_because, strict=True)
    )


def _teaches(finding: Analysis) -> bool:
    """Whether a finding is sure enough, and of the code that failed."""
    sure = finding.confidence != "low" and finding.score >= LEAST_SCORE
    own = not finding.misfit and not finding.by_fallback
    return finding.has_cause and sure and own and all(one.verified for one in finding.evidence)


def _causes(finding: Analysis) -> Iterator[RunFact]:
    if not finding.evidence:
        return
    first = finding.evidence[0]
    quote = shortened(one_line(first.quote).replace("`", "'"), RUN_QUOTE)
    changed = (finding.suspect_commit[:10],) if finding.suspect_commit else ()
    by = f", changed by {changed[0]}" if changed else ""
    error = shortened(last_segment(finding.case.leader.error_class), RUN_QUOTE)
    where = shortened(one_line(finding.case.leader.transaction), RUN_QUOTE // 2)
    text = f"{error} in {where} comes from {first.path}:{first.line} `{quote}`{by}"
    gathered = Gathered(finding.case, ResearchContext())
    symptom = gathered.symptom
    names = (symptom.name, symptom.module, symptom.keyword)
    paths = dict.fromkeys((first.path, *(one.path for one in finding.evidence)))
    yield run_fact(
        "cause",
        text,
        gathered,
        names=tuple(name for name in names if _is_distinctive(name)),
        paths=tuple(paths),
        line=first.line,
        changes=changed,
    )


def _fails_there(fact: RunFact, one: Gathered) -> bool:
    return one.path in fact.paths


def _says_it(fact: RunFact, one: Gathered) -> bool:
    texts = [f"{each.error_class} {each.message[:2_000]}" for each in one.case.groups[:8]]
    return _names_any(fact.names, "\n".join((*texts, one.symptom.text)))


def _source_names_it(fact: RunFact, one: Gathered) -> bool:
    shown = [each.text for each in one.research.previews if each.kind in ("failing", "flow")]
    names = fact.names[:1] if fact.kind == "renamed" else fact.names  # who has the new one is well
    if fact.kind != "unreachable":
        names = tuple(name for name in names if _is_distinctive(name))
    return _names_any(names, "\n".join(shown))


def _is_same_change(fact: RunFact, one: Gathered) -> bool:
    pulls = [suspect.pull for suspect in one.research.suspects]
    authors = [author.commit for author in one.research.changes.authors if author.kind != "used"]
    names = {f"#{pull.number}" for pull in pulls if pull.number}
    names |= {sha[:10] for pull in pulls for sha in (pull.sha, *pull.commits)}
    return bool((names | {commit.sha[:10] for commit in authors}) & set(fact.changes))


def _is_likely(fact: RunFact, one: Gathered) -> bool:
    likely = {each.path for each in one.research.likely_files}
    shown = {each.path for each in one.research.previews}
    return bool((likely | shown) & set(fact.paths))


def _is_same_time(fact: RunFact, one: Gathered) -> bool:
    began = one.case.leader.first_seen
    return bool(fact.at and began and abs(fact.at - began) <= _NEAR)


# What makes a fact worth telling, with its points; the first that holds is the reason. A likely
# file and the time are none, not even together: half of all errors of a night share these.
REASONS: tuple[tuple[str, int, Callable[[RunFact, Gathered], bool]], ...] = (
    ("it fails in that file", 6, _fails_there),
    ("its message names it", 6, _says_it),
    ("its source names it", 4, _source_names_it),
    ("the same change is suspected", 4, _is_same_change),
    ("a likely file", 2, _is_likely),
    ("it began at the same time", 1, _is_same_time),
)
_LEAST = 4


def _rated(fact: RunFact, one: Gathered) -> tuple[int, str]:
    holding = [(points, name) for name, points, holds in REASONS if holds(fact, one)]
    return sum(points for points, _ in holding), holding[0][1] if holding else ""


def _used(fact: RunFact, finding: Analysis) -> str:
    """How a finding rests on a fact; what the error itself shows counts for nothing."""
    frames = finding.case.trace.in_app if finding.case.trace else ()
    own = {(frame.repo_path, frame.line) for frame in frames}
    quoted = [one for one in finding.evidence if one.verified and (one.path, one.line) not in own]
    files = {path for path, _ in own}
    for one in quoted:
        near = not fact.line or abs(one.line - fact.line) <= NEAR_LINES
        if one.path in fact.paths and near and (fact.line or one.path not in files):
            return f"it quotes {one.path}:{one.line}"
    commit = finding.suspect_commit[:10]
    if commit and commit in fact.changes:
        return f"it names {commit}"
    says = Gathered(finding.case, ResearchContext())
    mine = [name for name in fact.names if not _names_any((name,), says.symptom.text)]
    text = f"{finding.title}\n{finding.root_cause}"
    return next((f"it names {name}" for name in mine if _names_any((name,), text)), "")


def _names_any(names: Iterable[str], text: str) -> bool:
    """Whether a text holds one of the names as a word of its own."""
    return any(
        len(name) >= _SHORTEST and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
        for name in names
    )


def _is_distinctive(name: str) -> bool:
    """Whether a name is none that half of all code holds.

    >>> _is_distinctive("basket_rows"), _is_distinctive("price"), _is_distinctive("Gateway")
    (True, False, False)
    """
    return len(name) >= _LONG or bool(re.search(r"\w[_.:/]\w|[a-z][A-Z]", name))
