"""Merged pull requests, as proposed or with something else in them."""

from datetime import UTC, datetime

import pytest
from deliveries import STEPPED
from github_world import FIXED, outbox, pull, tracker
from services.github_people import amend, merge, move_base, push, rebase, update
from tables import tables_of

from nightwatch_core.models.proposals import FileChange
from nightwatch_core.text.markers import CORRECTION

TABLES = tables_of(__file__)

PATH = "app/total.rb"
OTHER = "def total\n  1\nend\n"
MERGED = "2026-11-21T06:00:00Z"


def merged(server):
    (item,) = tracker(server).own_items()
    assert item.state == "merged"
    return item


TEST = {"test/total_test.rb": "t\n"}


def moved(server, text="o\n"):
    move_base(server, {"other.rb": text})


def updated(server, text="o\n"):
    moved(server, text)
    update(server, 1)


def pushed_more(server):
    push(server, 1, {PATH: OTHER})


def amended(server):
    amend(server, 1, {PATH: OTHER})


AS_PROPOSED = {
    "nothing": (),
    "moved": (moved,),
    "updated": (updated,),
    "checked again": (lambda server: push(server, 1, {}, "Run the checks again"),),
    "rebased": (moved, lambda server: rebase(server, 1)),
    "amended and back": (amended, lambda server: amend(server, 1, {PATH: FIXED})),
}
WITH_EDITS = {
    "pushed more": (pushed_more,),
    "pushed a test": (lambda server: push(server, 1, TEST), updated),
    "amended": (amended,),
    "rebased with more": (moved, lambda server: rebase(server, 1, TEST)),
    "amended, then rebased": (
        lambda server: amend(server, 1, TEST),
        moved,
        lambda server: rebase(server, 1),
    ),
}


@pytest.mark.parametrize("name", AS_PROPOSED)
def test_a_fix_that_was_merged_as_proposed(server, name):
    outbox(server).publish(pull(server))
    for deed in AS_PROPOSED[name]:
        deed(server)
    merge(server, 1, at=MERGED)
    item = merged(server)
    assert not item.edited
    assert item.merged_at == datetime(2026, 11, 21, 6, tzinfo=UTC)


@pytest.mark.parametrize("name", WITH_EDITS)
@pytest.mark.slow
def test_a_fix_that_was_edited_before_it_was_merged(server, name):
    outbox(server).publish(pull(server))
    for deed in WITH_EDITS[name]:
        deed(server)
    merge(server, 1)
    assert merged(server).edited


@pytest.mark.parametrize("edited", [False, True])
def test_of_a_fix_in_steps_each_commit_is_ours_and_another_is_an_edit(server, edited):
    outbox(server).publish(pull(server, **STEPPED))
    if edited:
        pushed_more(server)
    merge(server, 1)
    assert merged(server).edited is edited


@pytest.mark.parametrize(("message", "edited"), [(CORRECTION, False), ("Correct it", True)])
def test_our_correction_after_the_checks_is_no_edit_of_anybody(server, message, edited):
    outbox(server).publish(pull(server))
    push(server, 1, {PATH: OTHER}, message)
    merge(server, 1)
    assert merged(server).edited is edited


def test_merged_ones_are_asked_about_at_once_and_open_ones_never(server):
    for at in range(3):
        told = {"branch": f"nightwatch/b{at}", "key": f"key-{at}"}
        body = pull(server).body.replace("pull-key-1", f"key-{at}")
        change = FileChange(path=f"app/new_{at}.rb", text="1\n")
        outbox(server).publish(pull(server, change, body=body, **told))
    push(server, 2, {"x.rb": "x\n"})
    for number in (1, 2):
        merge(server, number)
    server.requests.clear()
    assert [item.edited for item in tracker(server).own_items()] == [False, True, False]
    (asked,) = [one for one in server.requests if one.path == "/graphql"]
    assert {one for one in asked.body["variables"].values() if isinstance(one, int)} == {1, 2}


@pytest.mark.parametrize(("status", "body"), TABLES["test_a_refusal_leaves_the_items"])
@pytest.mark.slow
def test_a_refusal_leaves_the_items(server, status, body):
    outbox(server).publish(pull(server))
    pushed_more(server)
    merge(server, 1)
    server.fail("POST", "/graphql", status=status, body=body)
    assert not merged(server).edited
    assert merged(server).edited
