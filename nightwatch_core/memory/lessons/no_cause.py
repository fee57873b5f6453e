"""What is remembered of an error whose cause is not known: that it was looked at, and no claim."""

from collections.abc import Mapping

from nightwatch_core.memory.lessons.citations import watched
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.knowledge import CitedLine

STEPS = 1  # that whoever waits for its next turn is told


def without_claims(analysis: Analysis) -> Analysis:
    """Return an analysis without a cause as a lesson keeps it; any other as it is.

    The next night has to know that it was looked at, so that it does not pay for it again, and
    what would settle it. Nothing else is kept: nobody learns from what was not proved.
    """
    if analysis.handover is None:
        return analysis
    steps = analysis.handover.look_at or analysis.next_steps
    return analysis.model_copy(
        update={
            "title": analysis.case.title,
            "root_cause": "",
            "evidence": (),
            "fix": (),
            "refused": (),
            "tags": (),
            "learnings": (),
            "related_to": (),
            "question": "",
            "next_steps": steps[:STEPS],
        }
    )


def watched_for(analysis: Analysis, digests: Mapping[str, str]) -> tuple[CitedLine, ...]:
    """Cite the files whose change is a reason to look again: also those that were quoted in vain.

    `analysis` is the one with its claims.
    """
    own = watched(analysis, digests)
    if analysis.has_cause:
        return own
    seen = {one.path for one in own}
    quoted = dict.fromkeys(one.path for one in analysis.evidence if one.verified)
    more = (
        CitedLine(path=path, line=1, digest=digests[path], commit=analysis.commit)
        for path in quoted
        if path in digests and path not in seen
    )
    return (*own, *more)
