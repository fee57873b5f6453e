"""A cheaper model leads, over real HTTP: which of its answers stand, and what it costs."""

import json
from contextlib import suppress
from dataclasses import replace

import pytest
from claude_talks import OPUS, claude
from night_world import CART, PAY, TRACES, group, trace, worlds
from services import anthropic_mind
from services.anthropic import Anthropic
from twins.reading import MemoryErrors

from nightwatch_core.report.facts import facts

pytestmark = pytest.mark.usefixtures("own_results")
HAIKU = "claude-haiku-5-5"
FIXES = {"line.price": "line.cost", "charge(card)": "charge(card.id)"}
LATE = group("TimeoutError", "jobs/ship", 1)
SOUND, NOT_LOCAL = "'NoneType' object has no attribute 'price'", "timed out"
MISQUOTED = "'NoneType' object is not subscriptable"
ERRORS = {SOUND: CART, MISQUOTED: PAY, NOT_LOCAL: LATE}
TWINS = {**TRACES, LATE.fingerprint: (trace("TimeoutError", "shop/pay.py", "pay"),)}


def mind(body, *given):
    said, stop = anthropic_mind.turn(body, *given)
    if body["model"] == HAIKU and stop == "end_turn":
        said[0]["text"] = said[0]["text"].replace('(card)", "note', '(it)", "note')
    return said, stop


def world(server, deadly=()):
    """A world that asks a stand-in for Anthropic; a `deadly` model ends the night."""

    def dies(*_):
        raise KeyboardInterrupt

    def model_of(name):
        model = claude(server, name, attempts=1)
        model.reply = dies if name in deadly else model.reply
        return model

    groups = tuple(it.model_copy(update={"message": said}) for said, it in ERRORS.items())
    made = worlds()
    reading = replace(made.reading, errors=MemoryErrors(groups, TWINS))
    return replace(made, reading=reading, model_of=model_of)


def night(server, at, lead=HAIKU):
    """One night; returns its report, and which model was asked about what."""
    before, report = len(server.bodies), None
    with suppress(KeyboardInterrupt):
        report = at.night(model=OPUS, gate=False, lead_model=lead)
    told = [(it["model"], json.dumps(it["messages"])) for it in server.bodies[before:]]
    return report, {(name, next(e for e in ERRORS if e in text)) for name, text in told}


def test_a_sound_lead_stands_and_any_other_error_is_asked_as_without_a_lead():
    with Anthropic(mind=mind, fixes=FIXES) as server:
        report, asked = night(server, world(server))
        assert report.usage.calls == len(server.bodies)
        again = night(server, world(server), lead="")[1]
    assert asked == {(HAIKU, SOUND), (HAIKU, MISQUOTED), (OPUS, MISQUOTED), (OPUS, NOT_LOCAL)}
    assert again == {(OPUS, SOUND)}, "turns are kept, and found by an equal request"
    found = {item.fingerprint: item for item in report.analyses}
    sound, misquoted, late = (found[item.fingerprint] for item in ERRORS.values())
    assert (sound.model, sound.lead.doubt, sound.has_fix) == (HAIKU, "", True)
    assert (misquoted.model, misquoted.lead.doubt) == (OPUS, "a quote did not hold")
    assert (late.model, late.lead, late.has_fix) == (OPUS, None, True)
    assert report.usage.cost == pytest.approx(sum(item.usage.cost for item in found.values()))
    assert misquoted.usage.cost > misquoted.lead.cost > 0
    told = {fact.name: fact.text for fact in facts("analysis", of=misquoted)}["Led by"]
    assert told.startswith(HAIKU)
    assert told.endswith(f", looked at again by {OPUS}: a quote did not hold")


def test_a_night_that_is_killed_does_not_pay_its_lead_again():
    deadly = {OPUS}
    with Anthropic(mind=mind, fixes=FIXES) as server:
        at = world(server, deadly)
        assert night(server, at) == (None, {(HAIKU, SOUND), (HAIKU, MISQUOTED)})
        deadly.clear()
        report, asked = night(server, at)
    assert report.night.resumed
    assert asked == {(OPUS, MISQUOTED), (OPUS, NOT_LOCAL)}
