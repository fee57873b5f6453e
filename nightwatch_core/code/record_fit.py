"""Whether the record of a case is of the commit that is read: its own source, and plausibility."""

from nightwatch_core.code.contradictions import contradiction
from nightwatch_core.code.failing_place import FailingPlace, FailingPlaces, Read, Search
from nightwatch_core.code.limits import DRIFT, FITTED_PLACES, SHOWN_SOURCE
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.error import Case
from nightwatch_core.text.plain_text import shortened
from nightwatch_core.traces.source_fit import has_source

MISFIT = "the record does not fit this commit: "


def misfit(case: Case, read: Read, search: Search | None = None) -> str:
    """Say why the record of a case is not of the commit that `read` reads; empty where it may be.

    The innermost own frame decides; those around it only where more of them speak against the
    commit than for it. Where the commit is known by a time alone, lines may have moved: one
    that is only implausible is no misfit if a line near it is plausible.
    """
    is_named = case.commit is not None and case.commit.is_named
    places = FailingPlaces(case, read, search or _nothing, FITTED_PLACES)
    reasons = [(place.frame, _against_file(place, is_named)) for place in places.all()]
    against = [reason for _, reason in reasons if reason]
    holding = sum(frame.fit in ("same", "moved") for frame, _ in reasons)
    if not against or reasons[0][0].fit in ("same", "moved"):
        return ""
    if reasons[0][1] or (len(against) > 1 and len(against) > holding):
        return f"{MISFIT}{against[0]}"
    return ""


def objection(evidence: Evidence, case: Case, read: Read, search: Search) -> str:
    """Say why evidence that quotes the line of a frame cannot be where it failed; else empty."""
    places = FailingPlaces(case, read, search, FITTED_PLACES)
    at = (evidence.path, evidence.line)
    frame = next((one for one in places.frames if (one.repo_path, one.line) == at), None)
    place = places.of(frame) if frame else None
    return _against(place) if place else ""


def with_doubts(case: Case, read: Read, search: Search) -> Case:
    """Mark own frames whose lines the code excludes as those of other code: their fit differs."""
    if case.trace is None:
        return case
    places = FailingPlaces(case, read, search, FITTED_PLACES).all()
    doubted = {place.frame for place in places if place.frame.fit == "unknown" and _against(place)}
    links = tuple(
        link.model_copy(
            update={
                "frames": tuple(
                    frame.model_copy(update={"fit": "differs"}) if frame in doubted else frame
                    for frame in link.frames
                )
            }
        )
        for link in case.trace.links
    )
    return case.model_copy(update={"trace": case.trace.model_copy(update={"links": links})})


def _against(place: FailingPlace) -> str:
    if place.frame.fit == "differs" and has_source(place.frame):
        code = shortened(" ".join(place.frame.code.split()), SHOWN_SOURCE)
        printed = f" ({code})" if code else ""
        return f"{place.name} and the file around it do not hold the line of the record{printed}"
    return contradiction(place)


def _against_file(place: FailingPlace, is_named: bool) -> str:
    """What speaks against the line and, of an unnamed commit, against those it may have been."""
    why = _against(place)
    is_certain = is_named or (place.frame.fit == "differs" and has_source(place.frame))
    return why if is_certain or not why or not _may_have_moved(place) else ""


def _may_have_moved(place: FailingPlace) -> bool:
    """Whether a line near it, of another number only, would be plausible."""
    distances = (n for k in range(1, DRIFT + 1) for n in (-k, k))
    near = (place.line + n for n in distances if 0 < place.line + n <= len(place.rows))
    return any(
        not contradiction(place._replace(frame=place.frame.model_copy(update={"line": line})))
        for line in near
    )


def _nothing(_query: str) -> tuple[SearchHit, ...]:
    return ()
