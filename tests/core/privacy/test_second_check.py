"""The second check: what it finds does not go out, and nobody is told the value."""

import base64
from urllib.parse import quote

import pytest
from twins.writing import MemoryOutbox

from nightwatch_core.models.proposals import (
    DraftCommit,
    DraftPull,
    FileChange,
    OpenIssue,
    PullUpdate,
)
from nightwatch_core.privacy.redaction import SecondCheck, checked_outbox

OWN = "sk-ant/own+0123 käse=9"
RAW = OWN.encode()
WRITTEN = {
    "plain": OWN,
    "reversed": OWN[::-1],
    "in lines": "\n".join(OWN[at : at + 7] for at in range(0, len(OWN), 7)),
    "for an address": quote(OWN, safe=""),
    "hexadecimal": RAW.hex(),
    "hexadecimal with blanks": RAW.hex(" ").upper(),
    "JSON": OWN.replace("ä", "\\u00e4").replace("/", "\\/"),
    "base64": base64.b64encode(RAW).decode(),
    "base64 for addresses": base64.urlsafe_b64encode(b"x" + RAW).decode(),
    "base64 within": base64.b64encode(b"user:" + RAW + b":more").decode(),
    "base64 in lines": base64.encodebytes(b"k" * 30 + RAW + b"v" * 40).decode(),
}


@pytest.fixture
def check() -> SecondCheck:
    return SecondCheck((OWN, "", "short"))


@pytest.mark.parametrize("form", WRITTEN)
def test_our_own_secrets_are_seen_in_whatever_form(check: SecondCheck, form: str) -> None:
    assert check.found(f"see (x{WRITTEN[form]}) there")


def test_other_texts_are_no_alarm(check: SecondCheck) -> None:
    for text in ("", "a", "%", "%E4%zz", "\\u00", "deadbeef" * 50, "QUJD" * 9_000, "short"):
        assert not check.found(text)


def issue(**more: str) -> OpenIssue:
    return OpenIssue(**{"key": "k", "fingerprint": "v1:a", "title": "t", "body": "b", **more})


def draft(text: str, **more: str) -> DraftPull:
    given = {"key": "k", "fingerprint": "v1:a", "branch": "nightwatch/a", "base": "main"}
    said = {"title": "t", "body": "b", "commit_message": "m", "commit": "c" * 40, **more}
    return DraftPull(**given, **said, changes=(FileChange(path="app/pay.py", text=text),))


def test_a_publication_with_a_secret_is_refused_with_its_place(check: SecondCheck) -> None:
    there = MemoryOutbox()
    outbox = checked_outbox(there, check)
    for proposal, place in (
        (issue(title=OWN), "the issue's title"),
        (issue(body=f"fine\n{RAW.hex()}"), "the issue's body"),
        (draft("fine", commit_message=f"why\n\n{OWN}"), "the pull's commit message"),
        (draft(f"one\ntoken = {OWN}\n"), "in app/pay.py"),
    ):
        refused = outbox.publish(proposal)
        assert (refused.status, refused.key) == ("refused", "k")
        assert place in refused.reason
        assert refused.reason in check.alarms()
        assert OWN not in refused.reason
    assert outbox.publish(issue()).status == "done"
    check.reset()
    assert check.alarms() == ()


def test_what_a_step_writes_and_a_later_one_takes_out_counts(check: SecondCheck) -> None:
    clean, key = draft("x = 1\n"), FileChange(path="app/pay.py", text=f"x = '{OWN}'\n")
    there = MemoryOutbox()
    outbox = checked_outbox(there, check)
    for step, place in (
        (DraftCommit(message="One", changes=(key,)), "app/pay.py in commit 1"),
        (DraftCommit(message=OWN, changes=clean.changes), "the message of commit 1"),
    ):
        refused = outbox.publish(clean.model_copy(update={"commits": (step,)}))
        assert refused.status == "refused"
        assert place in refused.reason


def test_one_more_commit_is_looked_at_as_the_first_was(check: SecondCheck) -> None:
    change = FileChange(path="app/pay.py", text=f"one\ntoken = {OWN}\n")
    given = {"key": "k", "fingerprint": "v1:a", "branch": "nightwatch/a", "number": 1, "body": "b"}
    more = PullUpdate(
        **given, commit_message="m", head="a" * 40, commit="c" * 40, changes=(change,)
    )
    assert checked_outbox(MemoryOutbox(), check).publish(more).status == "refused"


def test_elsewhere_the_text_alone_is_withheld(check: SecondCheck) -> None:
    assert check.withhold("Slack", "fine") == "fine"
    told = check.withhold("Slack", f"one\n{OWN}")
    assert told == "[withheld from Slack: it holds one of NightWatch's own keys]"
    assert check.alarms() == (told[1:-1],)
