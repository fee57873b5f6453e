"""What a reviewer is told of a draft besides the finding: what it reaches, what fails beside it."""

from nightwatch_core.code.change_reach import Reach, Read, Search, reach_of
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.options import NightOptions
from nightwatch_core.publish.told import Carrier, Told


def for_review(
    told: Told,
    analyses: tuple[Analysis, ...],
    options: NightOptions,
    read: Read,
    search: Search | None,
) -> Told:
    """Add it; `analyses` are all of the night. Nothing is reached where there is no `search`."""
    return told._replace(
        reach=_reach(told, read, search), near=_near(told, analyses), carrier=_carrier(options)
    )


def _reach(told: Told, read: Read, search: Search | None) -> Reach:
    if search is None or not told.changes:
        return Reach()
    cited = [(one.path, one.quote.strip().splitlines()[0]) for one in _failing(told.analysis)]
    try:
        return reach_of(told.changes, cited, read, search)
    except (GiveUp, TryLater):  # no draft is lost for what only goes with it
        return Reach(is_known=False)


def _failing(analysis: Analysis) -> tuple[Evidence, ...]:
    """What is quoted first, which is where it fails."""
    return tuple(one for one in analysis.evidence[:1] if one.verified and one.quote.strip())


def _near(told: Told, analyses: tuple[Analysis, ...]) -> tuple[Analysis, ...]:
    """Errors of other causes whose innermost own frame lies in a file that is changed."""
    ours = {one.fingerprint for one in (told.analysis, *told.twins)}
    changed = {one.path for one in told.changes or ()}
    return tuple(one for one in analyses if one.fingerprint not in ours and _place(one) in changed)


def _place(analysis: Analysis) -> str:
    trace = analysis.case.trace
    return next((frame.repo_path for frame in trace.in_app), "") if trace else ""


def _carrier(options: NightOptions) -> Carrier:
    if options.delivery == "local":
        return "files"
    return "patch" if options.drafts == "patch" else "branch"
