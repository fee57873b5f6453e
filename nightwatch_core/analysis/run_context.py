"""Facts that verified findings of a night teach errors analysed later.

An error is given a fact only where it touches the error: same file, same name, same change. The
same night or the same minute is no reason.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from nightwatch_core.analysis.limits import RUN_CONTEXT, RUN_FACT, RUN_FACTS, RUN_QUOTE
from nightwatch_core.analysis.second_look import LEAST_SCORE
from nightwatch_core.code.symptoms import Symptom, symptom_of
from nightwatch_core.intake.cases import root_class
from nightwatch_core.models.analysis import Analysis, RunFact
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import one_line, shortened
from nightwatch_core.text.words import last_segment


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
) -> tuple[RunFact, ...]:
    """Choose the facts for an error, the closest first: at most ten lines and 1,500 characters.

    Facts of its own family are left out: the family's findings are passed on whole.
    """
    rated = [(_points(fact, gathered), fact) for fact in facts if not set(fact.sources) <= family]
    close = [item for item in rated if item[0]]
    close.sort(key=lambda item: -item[0])
    chosen, left = list[RunFact](), RUN_CONTEXT
    for _, fact in close[:RUN_FACTS]:
        left -= len(fact.text) + 1
        if left < 0:
            break
        chosen.append(fact)
    return tuple(chosen)


def _points(fact: RunFact, gathered: Gathered) -> int:
    """Rate how closely the fact touches the error; 0 where it does not."""
    case, research = gathered.case, gathered.research
    messages = [f"{group.error_class} {group.message[:2_000]}" for group in case.groups[:8]]
    said = "\n".join((*messages, gathered.symptom.text))
    source = "\n".join(p.text for p in research.previews if p.kind in ("failing", "flow"))
    commits = {author.commit.sha for author in research.changes.authors if author.kind != "used"}
    for suspect in research.suspects:
        commits |= {suspect.pull.sha, *suspect.pull.commits}
    return (
        6 * (gathered.path in fact.paths)
        + 6 * _names_any(fact.names, said)
        + 4 * _names_any(fact.names, source)
        + 4 * any(sha[:10] in fact.changes for sha in commits)
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
