"""The conversation with a model about one error, read from the journal."""

from collections.abc import Iterable, Mapping
from typing import Any

from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.journal.pieces import cleaned
from nightwatch_core.journal.reader import NightJournal
from nightwatch_core.models import conversation as chat
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.errors import ErrorGroup
from nightwatch_core.models.journal import Event
from nightwatch_core.privacy.scrubber import without_numbers
from nightwatch_core.text.templates import is_beginning

HEAD_CHARACTERS, TAIL_CHARACTERS = 14_000, 6_000  # shown of a longer text


def find_transcript(
    journals: Iterable[tuple[str, NightJournal]], name: str, night: str = ""
) -> chat.Transcript:
    """Return the newest transcript of the error called `name`, or beginning so.

    `journals` are those of nights by name, the newest first. Raises `StopTheNight` where none, or
    more than one error, is meant.
    """
    found: list[tuple[str, str, NightJournal]] = []
    for of_night, journal in journals:
        cases = dict.fromkeys(event.case for event in _replies(journal.events))
        matching = (case for case in cases if is_beginning(name, (case,)))
        found += [(of_night, case, journal) for case in matching]
    names = sorted({case for _, case, _ in found})
    if len(names) > 1:
        several = ", ".join(names[:5])
        raise StopTheNight(
            f"{name[:80]!r} matches {several}: give more characters of the fingerprint"
        )
    for of_night, case, journal in found:
        if night in ("", of_night):
            return transcript(journal, of_night, case)
    if found:
        nights = ", ".join(of_night for of_night, _, _ in found[:5])
        raise StopTheNight(f"no transcript of {names[0]} was kept in that night: see {nights}")
    raise StopTheNight(
        f"no transcript of {name[:80]!r} was kept: reports name the fingerprints, see "
        "`nightwatch report`"
    )


def transcript(journal: NightJournal, night: str, fingerprint: str) -> chat.Transcript:
    """Return every conversation of a night about an error; a turn that was resumed stands once."""
    entries: list[chat.TranscriptEntry] = []
    seen: set[tuple[str, str]] = set()
    said: list[Any] = []
    looks = unread = 0
    for event in _replies(journal.events, fingerprint):
        if (event.exact, event.answer) in seen:
            continue
        seen.add((event.exact, event.answer))
        try:
            asked, answer = journal.value(event.asked)["conversation"], journal.value(event.answer)
            turns = asked.get("turns", [])
            goes_on = bool(said) and turns[: len(said)] == said
            opening = () if goes_on else (_opening(event, asked, night, looks + 1),)
            new = (_entry(turn, event) for turn in turns[len(said) * goes_on :])
            added = (*opening, *new, _reply(answer, event))
        except (GiveUp, AttributeError, LookupError, TypeError, ValueError):
            unread += 1  # a text of it was cut, or is another version's
            continue
        entries += added
        looks += not goes_on
        # questions are kept without the numbers of masks, answers with them
        own = [cleaned(answer["turn"], without_numbers)] if event.kind == "value" else []
        said = [*turns, *own]
    return chat.Transcript(
        night=night, fingerprint=fingerprint, entries=tuple(entries), unread=unread + journal.torn
    )


def _replies(events: Iterable[Event], fingerprint: str = "") -> Iterable[Event]:
    for event in events:
        is_reply = event.port.startswith("model@") and event.call == "reply" and event.case
        if is_reply and not event.again and fingerprint in ("", event.case):
            yield event


def _opening(event: Event, asked: Mapping[str, Any], night: str, look: int) -> chat.TranscriptEntry:
    opening = chat.TranscriptOpening(
        night=night,
        fingerprint=event.case,
        error=ErrorGroup.model_validate(asked["case"]["leader"]).title[:200],
        model=event.port.partition("@")[2],
        effort=asked.get("effort", ""),
        tools=tuple(spec["name"] for spec in asked.get("tools", ())),
        look=look,
        system=asked.get("system", ""),
    )
    return chat.TranscriptEntry(kind="opening", at=event.at, opening=opening)


def _entry(turn: Mapping[str, Any], event: Event) -> chat.TranscriptEntry:
    if turn["kind"] == "results":
        results = tuple(
            chat.RecordedResult(
                name=item["name"], text=_short(item["text"]), is_error=item.get("is_error", False)
            )
            for item in turn["results"]
        )
        return chat.TranscriptEntry(kind="results", at=event.at, results=results)
    if turn["kind"] == "assistant":
        return chat.TranscriptEntry(kind="assistant", at=event.at, **_said(turn))
    return chat.TranscriptEntry(kind="user", at=event.at, text=_short(turn["text"]))


def _reply(answer: Mapping[str, Any], event: Event) -> chat.TranscriptEntry:
    usage = event.usage or Usage()
    if event.kind != "value":
        text = _short(answer["text"])
        return chat.TranscriptEntry(kind="failure", at=event.at, text=text, usage=usage)
    return chat.TranscriptEntry(
        kind="assistant",
        at=event.at,
        stop=answer.get("stop", ""),
        detail=answer.get("detail", ""),
        usage=usage,
        **_said(answer["turn"]),
    )


def _said(turn: Mapping[str, Any]) -> dict[str, Any]:
    calls = tuple(
        chat.RecordedCall(name=call["name"], arguments=call.get("arguments", {}))
        for call in turn.get("calls", ())
    )
    return {"text": _short(turn.get("text", "")), "calls": calls}


def _short(text: str) -> str:
    left = len(text) - HEAD_CHARACTERS - TAIL_CHARACTERS
    if left <= 0:
        return text
    return f"{text[:HEAD_CHARACTERS]}\n[… {left} characters left out …]\n{text[-TAIL_CHARACTERS:]}"
