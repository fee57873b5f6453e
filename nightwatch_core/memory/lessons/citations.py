"""Lines of code that a lesson refers to, with the digests by which their change is noticed."""

from collections.abc import Mapping

from nightwatch_core.memory import limits
from nightwatch_core.memory.unsettled import watched_files
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.knowledge import CitedLine


def cited(analysis: Analysis, digests: Mapping[str, str]) -> tuple[CitedLine, ...]:
    """Cite the lines that were found in the code: a lesson must not rest on a claim."""
    return tuple(
        CitedLine(
            path=one.path,
            line=one.line,
            quote=one.quote[: limits.LONGEST_QUOTE],
            digest=digests.get(one.path, ""),
            commit=analysis.commit,
        )
        for one in analysis.evidence
        if one.verified
    )


def watched(analysis: Analysis, digests: Mapping[str, str]) -> tuple[CitedLine, ...]:
    """Cite the files of its innermost frames: their change may show what could not be seen."""
    return tuple(
        CitedLine(path=path, line=1, digest=digests[path], commit=analysis.commit)
        for path in watched_files(analysis.case)
        if path in digests
    )
