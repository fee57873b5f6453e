"""Facts that verified findings of a night teach errors analysed later, and their use.

An error is given a fact only where it touches the error: same file, same name, same change. The
same night or the same minute is no reason.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from nightwatch_core.analysis.limits import NEAR_LINES, RUN_CONTEXT, RUN_FACT, RUN_FACTS, RUN_QUOTE
from nightwatch_core.analysis.second_look import LEAST_SCORE
from nightwatch_core.code.symptoms import Symptom, symptom_of
from nightwatch_core.intake.cases import root_class
from nightwatch_core.models.analysis import Analysis, HandedFact, RunFact
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import one_line, shortened
from nightwatch_core.text.words import last_segment

_LEAST_POINTS = 4


class Gathered(NamedTuple):
    """A case, and what was gathered for it before its analysis."""

    case: Case
    research: ResearchContext

    @property
    def symptom(self) -> Symptom:
        """Return the symptom in its class and message."""
        trace = self.case.trace
        message = (trace.root.message if trace else "") or self.case.leader.message
        return symptom_of(root_class(self.case.leader, trace), message)

    @property
    def path(self) -> str:
        """Return the failing file; empty where it is unknown."""
        top = self.case.trace.top if self.case.trace else None
        return top.repo_path if top else ""


def facts_found(analyses: Iterable[Analysis]) -> tuple[RunFact, ...]:
    """Return a fact for each sure finding: the quoted line, never the model's prose."""
    return tuple(
        _fact(analysis)
        for analysis in analyses
        if analysis.has_cause
        and analysis.confidence != "low"
        and analysis.score >= LEAST_SCORE
        and not (analysis.misfit or analysis.by_fallback)
        and analysis.evidence
        and all(evidence.verified for evidence in analysis.evidence)
    )


def relevant_facts(
    facts: Iterable[RunFact], gathered: Gathered, family: frozenset[str]
) -> tuple[tuple[RunFact, str], ...]:
    """Choose the facts for an error, each with the reason, the closest first.

    At most ten lines and 1,500 characters. Facts of its own family are left out: the family's
    findings are passed on whole.
    """
    rated = []
    for fact in facts:
        reasons = _reasons(fact, gathered)
        total = sum(reasons.values())
        if total >= _LEAST_POINTS and not set(fact.sources) <= family:
            rated.append((total, fact, next(iter(reasons))))
    rated.sort(key=lambda item: -item[0])
    chosen, left = list[tuple[RunFact, str]](), RUN_CONTEXT
    for _, fact, reason in rated[:RUN_FACTS]:
        left -= len(fact.text) + 1
        if left < 0:
            break
        chosen.append((fact, reason))
    return tuple(chosen)


def _reasons(fact: RunFact, gathered: Gathered) -> dict[str, int]:
    """Reasons to give an error the fact, with their points."""
    case, research = gathered.case, gathered.research
    messages = [f"{group.error_class} {group.message[:2_000]}" for group in case.groups[:8]]
    source = "\n".join(
        preview.text for preview in research.previews if preview.kind in ("failing", "flow")
    )
    commits = {author.commit.sha for author in research.changes.authors if author.kind != "used"}
    for suspect in research.suspects:
        commits |= {suspect.pull.sha, *suspect.pull.commits}
    rules = (
        ("it fails in that file", 6, gathered.path in fact.paths),
        (
            "its message names it",
            6,
            _names_any(fact.names, "\n".join((*messages, gathered.symptom.text))),
        ),
        ("its source names it", 4, _names_any(fact.names, source)),
        ("the same change is suspected", 4, {sha[:10] for sha in commits} & set(fact.changes)),
    )
    return {reason: points for reason, points, holds in rules if holds}


def handed(research: ResearchContext, finding: Analysis) -> tuple[HandedFact, ...]:
    """Return each fact that the analysis was given, and how the finding used it."""
    return tuple(
        HandedFact(text=fact.text, because=because, used=_used(fact, finding))
        for fact, because in zip(research.run_facts, research.run_because, strict=True)
    )


def _fact(finding: Analysis) -> RunFact:
    first = finding.evidence[0]
    quote = shortened(one_line(first.quote).replace("`", "'"), RUN_QUOTE)
    changes = (finding.suspect_commit[:10],) if finding.suspect_commit else ()
    by = f", changed by {changes[0]}" if changes else ""
    error = shortened(last_segment(finding.case.leader.error_class), RUN_QUOTE)
    where = shortened(one_line(finding.case.leader.transaction), RUN_QUOTE // 2)
    text = f"{error} in {where} comes from {first.path}:{first.line} `{quote}`{by}"
    symptom = Gathered(finding.case, ResearchContext()).symptom
    names = (symptom.name, symptom.module, symptom.keyword)
    return RunFact(
        text=line(text, RUN_FACT),
        names=tuple(name for name in names if _is_distinctive(name)),
        paths=tuple(dict.fromkeys(evidence.path for evidence in finding.evidence)),
        line=first.line,
        changes=changes,
        sources=(finding.case.fingerprint,),
    )


def _used(fact: RunFact, finding: Analysis) -> str:
    """Say how the finding used the fact; empty where it did not."""
    frames = finding.case.trace.in_app if finding.case.trace else ()
    own = {(frame.repo_path, frame.line) for frame in frames}
    for evidence in finding.evidence:
        is_new = evidence.verified and (evidence.path, evidence.line) not in own
        near = abs(evidence.line - fact.line) <= NEAR_LINES
        if is_new and near and evidence.path in fact.paths:
            return f"it quotes {evidence.path}:{evidence.line}"
    commit = finding.suspect_commit[:10]
    if commit and commit in fact.changes:
        return f"it names {commit}"
    symptom = Gathered(finding.case, ResearchContext()).symptom.text
    text = f"{finding.title}\n{finding.root_cause}"
    new = (n for n in fact.names if _names_any((n,), text) and not _names_any((n,), symptom))
    return next((f"it names {name}" for name in new), "")


def _names_any(names: Iterable[str], text: str) -> bool:
    return any(
        len(name) >= 4 and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names
    )


def _is_distinctive(name: str) -> bool:
    """Check that a name is unlikely to occur in unrelated code.

    >>> _is_distinctive("basket_rows"), _is_distinctive("price"), _is_distinctive("Gateway")
    (True, False, False)
    """
    return len(name) >= 9 or bool(re.search(r"\w[_.:/]\w|[a-z][A-Z]", name))
