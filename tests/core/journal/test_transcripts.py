"""The conversation about an error, read from the journals of nights."""

import pytest
from analysis_shapes import OPENING, analysed, answer, asks, case, group, says
from journal_runs import JournalRuns
from twins.reading import MemoryModel

from nightwatch_core.errors import StopTheNight, TryLater
from nightwatch_core.journal.pieces import canonical, name_of
from nightwatch_core.journal.reader import NightJournal
from nightwatch_core.journal.transcripts import find_transcript, transcript
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.conversation import Capabilities, ResultsTurn, ToolResult, UserTurn
from nightwatch_core.models.journal import Event
from nightwatch_core.privacy.scrubber import REMOVAL, Masks, Scrubber

ONE, TWO = "v1:aaaa111122223333", "v1:aaaa444455556666"
USAGE = Usage(calls=1, input_tokens=50, cost=0.1)
READ = asks(("read_file", {"path": "a.py"}), usage=USAGE)
REMOTE = Capabilities(model="remote", input_price=1.0, output_price=5.0, context_tokens=10**6)


def about(fingerprint, *turns):
    of = case(group(fingerprint=fingerprint))
    return OPENING.model_copy(update={"case": of, "turns": turns or OPENING.turns})


def asked(*fingerprints, scrub=str):
    """A night's journal with one turn about each."""
    night = JournalRuns(scrub)
    for fingerprint in fingerprints:
        night.model(MemoryModel([READ])).reply(about(fingerprint), 5.0)
    return night.journal


def read(night, fingerprint=ONE):
    return transcript(night.journal, "n1", fingerprint)


def test_it_has_every_turn_once_whoever_resumed_it():
    script = [READ, READ, says(answer(), usage=USAGE)]
    night = JournalRuns()
    for _ in range(2):

        def at(shown):
            return script[sum(turn.kind == "assistant" for turn in shown.turns)]

        model = night.model(MemoryModel([at], able=REMOTE))
        analysed(model, case(group(fingerprint=ONE)), iterations=9, tokens=10**6, cost=90.0)
    kept = read(night)
    kinds = [entry.kind for entry in kept.entries]
    assert kinds[:4] == ["opening", "user", "assistant", "results"]
    assert kinds.count("opening") == 1
    assert kinds.count("assistant") == len(script)
    assert (kept.night, kept.fingerprint, kept.unread) == ("n1", ONE, 0)
    assert all(entry.at for entry in kept.entries)
    assert kept.entries[0].opening.error == case(group(fingerprint=ONE)).leader.title
    assert kept.entries[2].calls[0].name == "read_file"
    assert sum((entry.usage for entry in kept.entries), Usage()).calls == len(script)


def test_a_failure_is_a_line_and_the_turn_before_it_is_not_repeated():
    night, trouble = JournalRuns(), TryLater("Claude is away: try again later")
    trouble.usage = USAGE
    with pytest.raises(TryLater):
        night.model(MemoryModel([trouble])).reply(about(ONE), 5.0)
    night.model(MemoryModel([says(answer())])).reply(about(ONE), 5.0)
    kept = read(night)
    assert [entry.kind for entry in kept.entries] == ["opening", "user", "failure", "assistant"]
    assert (kept.entries[2].text, kept.entries[2].usage) == (str(trouble), USAGE)


def test_a_fresh_conversation_is_another_look():
    night = JournalRuns()
    model = night.model(MemoryModel([READ]))
    model.reply(about(ONE), 5.0)
    model.reply(about(ONE, UserTurn(text="Look again.")), 5.0)
    openings = [entry.opening for entry in read(night).entries if entry.opening]
    assert [opening.look for opening in openings] == [1, 2]


def test_a_mask_in_what_the_model_said_does_not_make_another_conversation():
    """The journal has questions without the numbers of masks, and answers with them."""
    night = JournalRuns(Scrubber(Masks(b"key")).scrub)
    said = READ.model_copy(update={"turn": READ.turn.model_copy(update={"text": "anna@shop.io"})})
    model, opening = night.model(MemoryModel([said])), about(ONE)
    model.reply(opening, 5.0)
    more = ResultsTurn(results=(ToolResult(id="1", name="read_file", text="one"),))
    model.reply(about(ONE, *opening.turns, said.turn, more), 5.0)
    kinds = [entry.kind for entry in read(night).entries]
    assert kinds == ["opening", "user", "assistant", "results", "assistant"]


def test_secrets_do_not_reach_the_disk():
    secret = "ghp_" + "aB3" * 12
    night = JournalRuns(REMOVAL.scrub)
    call = asks((f"read {secret}", {secret: [secret, {"a": secret}]}), usage=USAGE)
    said = call.model_copy(update={"detail": f"password={secret}"})
    result = ToolResult(id="1", name="read_file", text=f"   12| key = {secret}")
    opening = about(ONE, UserTurn(text=secret), ResultsTurn(results=(result,)))
    opening = opening.model_copy(update={"system": secret})
    night.model(MemoryModel([said])).reply(opening, 5.0)
    assert "aB3aB3" not in "".join(line for file in night.files for line in file)
    kept = read(night)
    assert kept.entries[1].text == "<key>"
    assert kept.entries[2].results[0].text == "   12| key = <key>"
    assert kept.entries[3].detail.startswith("password=<")
    assert "<key-000000>" in kept.entries[3].calls[0].name


def test_texts_are_bounded():
    night = JournalRuns()
    night.model(MemoryModel([READ])).reply(about(ONE, UserTurn(text="x" * 100_000)), 5.0)
    text = read(night).entries[1].text
    assert len(text) < 21_000
    assert "80000 characters left out" in text


def test_torn_lines_and_texts_of_other_versions_are_counted():
    night = JournalRuns()
    night.model(MemoryModel([READ])).reply(about(ONE), 5.0)
    (lines,) = night.files
    event = Event.model_validate_json(lines[-1][1:])
    for other in ({"conversation": {"turns": [{"kind": "dance"}]}}, [], "text"):
        text = canonical(other)
        odd = event.model_copy(update={"asked": name_of(text), "exact": name_of(text)})
        lines += [f"P{text}", f"E{odd.model_dump_json()}"]
    gone = event.model_copy(update={"asked": "0" * 64, "exact": "gone"})
    lines += [f"E{gone.model_dump_json()}", "", "\ufffd", lines[-1][:40]]
    kept = read(night)
    assert [entry.kind for entry in kept.entries] == ["opening", "user", "assistant"]
    assert kept.unread == 6


def test_the_newest_night_or_the_one_that_is_named():
    nights = [(name, asked(ONE)) for name in ("n2", "n1", "n3")]  # the newest first
    assert find_transcript(nights, ONE).night == "n2"
    assert find_transcript(nights, ONE, "n1").night == "n1"
    with pytest.raises(StopTheNight, match=r"in that night: see n2, n1, n3"):
        find_transcript(nights, ONE, "n9")


def test_a_beginning_that_is_not_enough():
    nights = [("n1", asked(ONE, TWO))]
    assert find_transcript(nights, "v1:aaaa4").fingerprint == TWO
    assert find_transcript(nights, "aaaa4").fingerprint == TWO
    with pytest.raises(StopTheNight, match=f"matches {ONE}, {TWO}: give more"):
        find_transcript(nights, "v1:aaaa")


@pytest.mark.parametrize("wanted", ["v1:ffff", "../n1/v1-aaaa", "*", "\x00", "n1", ""])
def test_nothing_is_found_where_there_is_nothing(wanted):
    for nights in ([], [("n1", NightJournal(()))], [("n1", asked(ONE))]):
        with pytest.raises(StopTheNight, match="no transcript"):
            find_transcript(nights, wanted)
