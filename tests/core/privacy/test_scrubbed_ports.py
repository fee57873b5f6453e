"""What stands behind a port never gives or gets a secret, and nothing else changes."""

from datetime import UTC, datetime

import pytest
from error_records import RUBY, json_lines, written
from small_repo import SmallRepo
from twins.reading import MemoryModel
from twins.writing import MemoryOutbox

from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.code.code_view import verified
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.conversation import (
    AssistantTurn,
    Conversation,
    ResultsTurn,
    ToolResult,
    UserTurn,
)
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.models.proposals import DraftPull, FileChange
from nightwatch_core.ports import ErrorSource, Model
from nightwatch_core.privacy.redaction import (
    redacted,
    redacted_errors,
    redacted_model,
    redacted_outbox,
    redacted_reader,
    redacted_records,
    scrubbed,
)
from nightwatch_core.privacy.scrubber import Masks, Scrubber, holds_mask
from nightwatch_core.text.fingerprints import fingerprint

KEY = "sk_live_51HqLyjWDarjtT1zdp7dc"
MAIL = "marta.lindqvist@posteo.de"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7Zq3kM1vT9xLw0YbQf5cXr2uNp8sHd4g\n-----END RSA PRIVATE KEY-----"
SCRUBBER = Scrubber(Masks(b"key"))
FILES = {
    "app/pay.py": f'"""{PEM}"""\n\n\ndef charge():\n    return ask(api_key="{KEY}")\n',
    ".env": f"PASSWORD={KEY}\n",
}
GROUP = ErrorGroup(fingerprint="v1:a", source="file", error_class="E", message=f"to {MAIL}")


def reader():
    return redacted_reader(SmallRepo(FILES), SCRUBBER)


def test_names_of_groups_are_made_of_what_records_say(tmp_path):
    record = {
        "timestamp": "2026-11-20T10:00:00Z", "error_class": "E", "message": f"no user {MAIL} password=hunter22",
        "transaction": "GET /x", "stacktrace": RUBY,
    }  # fmt: skip
    files = ErrorFiles((written(tmp_path, json_lines([record])),))
    bare = files.error_groups(files.window(None, datetime(2026, 11, 21, tzinfo=UTC)))
    masked = redacted(files, ErrorSource, SCRUBBER.scrub).error_groups(bare.window)
    (group,) = masked.groups
    assert group.fingerprint == bare.groups[0].fingerprint
    assert group.fingerprint == fingerprint(group.app, "E", "GET /x", record["message"])
    assert MAIL in bare.groups[0].message
    assert MAIL not in masked.model_dump_json()
    assert redacted(files, ErrorSource, SCRUBBER.scrub).traces(group), "found by its name"


def test_a_message_is_grouped_alike_before_and_after_it_is_masked():
    for message in (f"no user {MAIL}", "card 4111 1111 1111 1111 declined", f"key {KEY} is wrong"):
        masked = SCRUBBER.scrub(message)
        other = Scrubber(Masks(b"another")).scrub(message)
        assert masked != message
        assert fingerprint("a", "E", "", masked) == fingerprint("a", "E", "", other)
    assert fingerprint("a", "E", "", SCRUBBER.scrub(f"no user {MAIL}")) == fingerprint(
        "a", "E", "", f"no user {MAIL}"
    )


def test_a_file_keeps_its_lines_and_a_quote_of_it_is_verified():
    text = reader().read_file("app/pay.py")
    assert KEY not in text
    assert "MIIE" not in text
    assert len(text.split("\n")) == len(FILES["app/pay.py"].split("\n"))
    line = text.split("\n")[6]
    assert holds_mask(line)
    assert verified(Evidence(path="app/pay.py", line=7, quote=line), text).verified


def test_a_secret_file_is_named_and_never_shown():
    tree = reader()
    assert ".env" in tree.paths()
    assert tree.read_file(".env") is None
    assert tree.blame(".env", 1) == ()
    assert {hit.path for hit in tree.search("sk_live")} == {"app/pay.py"}
    assert tree.search("PASSWORD", ".env") == ()


def test_a_line_that_only_its_file_tells_to_be_secret_is_not_found_alone():
    (hit,) = reader().search("MIIEpAIBAAKCAQEA")
    assert "MIIE" not in hit.text


def test_a_model_is_told_masks_and_hears_its_own_words_as_they_were():
    heard = []
    model = MemoryModel([lambda conversation: heard.append(conversation) or "{}"])
    own = AssistantTurn(text=f"I saw {MAIL}", opaque="x")
    turns = (
        UserTurn(text=f"for {MAIL}"),
        own,
        ResultsTurn(results=(ToolResult(id="1", name="read_file", text=KEY),)),
    )
    case = Case(leader=GROUP)
    redacted_model(model, Model, SCRUBBER.scrub).reply(
        Conversation(system="s", turns=turns, case=case), 9.0
    )
    (told,) = heard
    assert MAIL not in told.turns[0].text
    assert told.turns[1] == own
    assert KEY not in told.turns[2].results[0].text


def test_what_is_published_is_masked_but_the_files_of_a_draft():
    outbox = MemoryOutbox()
    change = FileChange(path="app/pay.py", text=FILES["app/pay.py"])
    pull = DraftPull(
        key="k", fingerprint="v1:a", branch="nightwatch/k", base="main", title=f"For {MAIL}", body=KEY,
        commit_message=MAIL, changes=(change,), commit="c" * 40,
    )  # fmt: skip
    redacted_outbox(outbox, SCRUBBER.scrub).publish(pull)
    (sent,) = outbox.published
    assert sent.changes == (change,)
    assert not {MAIL, KEY} & {sent.title, sent.body, sent.commit_message}
    assert (sent.branch, sent.commit, sent.key) == (pull.branch, pull.commit, "k")


def test_values_keep_their_names_and_what_is_harmless_is_the_same_value():
    group = scrubbed(GROUP, SCRUBBER.scrub)
    assert (group.fingerprint, MAIL in group.message) == ("v1:a", False)
    assert scrubbed(group, SCRUBBER.scrub) is group


def test_a_neighbours_complaint_is_masked():
    with pytest.raises(GiveUp, match="no such user: <email-"), redacted_errors(SCRUBBER.scrub):
        raise GiveUp(f"no such user: {MAIL}")


def test_records_of_json_are_masked_text_by_text():
    kept = {}

    class Kept:
        get = kept.get
        put = kept.__setitem__

    redacted_records(Kept(), SCRUBBER.scrub).put("k", f'["{MAIL}", {{"a": "x\\n{KEY}"}}, 3]')
    assert MAIL not in kept["k"]
    assert KEY not in kept["k"]
    assert kept["k"].startswith('["<email-')
