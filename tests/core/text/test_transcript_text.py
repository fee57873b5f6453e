"""A transcript for people."""

from datetime import UTC, datetime

from analysis_shapes import answer

from nightwatch_core.models.answer import Usage
from nightwatch_core.models.conversation import (
    RecordedCall,
    RecordedResult,
    Transcript,
    TranscriptEntry,
    TranscriptOpening,
)
from nightwatch_core.text.transcript_text import shown, used

AT = datetime(2026, 11, 21, 3, 4, 5, tzinfo=UTC)
OPENING = TranscriptOpening(
    night="2026-11-21-ab", fingerprint="v1:abc", error="KeyError in orders/show",
    model="claude-opus-5-5", effort="medium", tools=("read_file",), system="Find the cause.",
)  # fmt: skip
USAGE = Usage(calls=1, input_tokens=1_000, output_tokens=20, cache_read_tokens=500, cost=0.01)
LONG = "\n".join(f"line {number}" for number in range(100))
ENTRIES = (
    TranscriptEntry(kind="opening", opening=OPENING),
    TranscriptEntry(kind="user", at=AT, text="It broke."),
    TranscriptEntry(
        kind="assistant", at=AT, text="Let me look.", stop="tools", usage=USAGE,
        calls=(RecordedCall(name="read_file", arguments={"path": "a.py"}),),
    ),
    TranscriptEntry(kind="results", at=AT, results=(
        RecordedResult(name="read_file", text=LONG),
        RecordedResult(name="blame", text="no", is_error=True),
    )),
    TranscriptEntry(kind="failure", at=AT, text="Claude is away"),
    TranscriptEntry(kind="opening", opening=OPENING.model_copy(update={"look": 2})),
    TranscriptEntry(kind="assistant", at=AT, text=answer(), stop="answer", usage=USAGE,
                    detail="summarised"),
)  # fmt: skip


def text_of(*entries, full=False, unread=0):
    told = Transcript(night="n", fingerprint="v1:abc", entries=entries, unread=unread)
    return [part.text for part in shown(told, full)]


def test_who_said_what_and_what_it_took():
    said = text_of(*ENTRIES)
    assert said[0] == "v1:abc  KeyError in orders/show"
    assert said[1] == "night 2026-11-21-ab · claude-opus-5-5 · effort medium · tools read_file"
    assert said[2:4] == ["03:04:05  we", "          It broke."]
    assert "03:04:05  the model asks for tools" in said
    assert '          → read_file(path="a.py")' in said
    assert "          1,000 in, 20 out, 500 read from the cache, $0.0100" in said
    assert f"          ← read_file, {len(LONG)} characters" in said
    assert "          line 0" in said
    assert "Second look: a fresh conversation with claude-opus-5-5" in said
    assert "03:04:05  the model answers (summarised)" in said
    assert '            "title": "Lines have no price",' in said
    assert said[-1] == "In all: 2 calls, 2,000 in, 40 out, 1,000 read from the cache, $0.0200"


def test_results_are_short_unless_they_are_wanted_whole():
    short, whole = text_of(*ENTRIES), text_of(*ENTRIES, full=True)
    assert sum(item.strip().startswith("line ") for item in short) <= 5
    assert sum(item.strip().startswith("line ") for item in whole) == 100
    assert any("more" in item for item in short)
    assert any("Find the cause." in item for item in whole)
    assert not any("Find the cause." in item for item in short)


def test_hostile_text_does_nothing():
    bad = "\x1b[31mred\x1b[0m \u202e[bold]x[/bold]\r\x07"
    said = text_of(
        TranscriptEntry(
            kind="opening", opening=OPENING.model_copy(update={"error": bad, "night": bad})
        ),
        TranscriptEntry(kind="user", text=bad),
        TranscriptEntry(
            kind="assistant", text=bad, stop=bad, detail=bad,
            calls=(RecordedCall(name=bad, arguments={bad: bad}),),
        ),
        TranscriptEntry(kind="results", results=(RecordedResult(name=bad, text=bad),)),
        TranscriptEntry(kind="failure", text=bad),
        full=True,
    )  # fmt: skip
    assert not any(hidden in item for item in said for hidden in ("\x1b", "\u202e", "\x07", "\r"))
    assert any("[bold]x[/bold]" in item for item in said)  # as it is: the terminal gets plain text


def test_what_cannot_be_read_is_said():
    assert "3 lines of this transcript cannot be read." in text_of(unread=3)


def test_an_unknown_price_is_said():
    assert used(Usage(calls=1, cost=None, thinking_tokens=5, output_tokens=9)) == (
        "0 in, 9 out, 5 thereof thinking, cost unknown"
    )
