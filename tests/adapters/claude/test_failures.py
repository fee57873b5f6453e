"""Claude over real HTTP: everything that goes wrong, and what it becomes."""

import time
from email.utils import formatdate

import pytest
from analysis_shapes import AGENT, analysed
from claude_talks import OPUS, claude, shown
from pydantic import SecretStr
from services.anthropic import Anthropic
from services.faults import KINDS, Fault, FaultyService

from nightwatch_core.adapters.claude.model import Claude
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater

PASSING = (
    "429", "500", "502", "503", "529", "cut", "end", "sse error", "truncated", "no json",
    "sse api", "sse rate", "sse timeout", "sse unknown", "no events", "drop", "redirect",
)  # fmt: skip
FINAL = {
    "sse invalid": (GiveUp, "in mid-answer, invalid_request_error"),
    "sse key": (StopTheNight, "in mid-answer.*ANTHROPIC_API_KEY"),
    "capped": (StopTheNight, "You have reached your limit.*billing"),
    "400": (GiveUp, "messages: something is wrong"),
    "401": (StopTheNight, "ANTHROPIC_API_KEY"),
    "402": (StopTheNight, "credit balance is too low.*billing"),
    "403": (StopTheNight, "give the key access"),
    "404": (StopTheNight, "--model"),
    "credit": (StopTheNight, "credit balance is too low.*billing"),
    "spend": (StopTheNight, "You have reached your limit.*billing"),
}


@pytest.mark.parametrize("fault", PASSING)
def test_what_passes_is_tried_again(fault):
    with Anthropic() as server:
        server.fail(fault, times=2)
        assert claude(server).reply(shown(), 20).stop == "answer"
        bodies = server.bodies
    assert len(bodies) == 3
    assert bodies[0] == bodies[1] == bodies[2]


@pytest.mark.parametrize("fault", FINAL)
def test_what_is_final_is_asked_once(fault):
    kind, words = FINAL[fault]
    with Anthropic() as server:
        server.fail(fault, times=9)
        with pytest.raises(kind, match=words):
            claude(server).reply(shown(), 20)
        assert len(server.bodies) == 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["slow", "drip"])
def test_a_call_never_takes_longer_than_it_may(fault):
    with Anthropic() as server:
        model = claude(server)
        model.capabilities()
        server.fail(fault, times=9)
        with pytest.raises(TryLater, match="in time") as raised:
            model.reply(shown(), 0.6)
    used = raised.value.usage
    assert used.calls == (1 if fault == "drip" else 0)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["stall", "slow"])
def test_silence_is_a_broken_attempt_and_the_call_is_made_again(fault):
    with Anthropic() as server:
        model = claude(server, silence=0.4)
        model.capabilities()
        server.fail(fault)
        reply = model.reply(shown(), 60)
        assert len(server.bodies) == 2
    assert reply.stop == "answer"
    assert reply.usage.calls == (2 if fault == "stall" else 1)


def test_slow_capabilities_are_bounded_too():
    with Anthropic() as server:
        server.fail("slow", path="/v1/models", times=9)
        with pytest.raises(TryLater, match="in time"):
            claude(server).reply(shown(), 0.3)


@pytest.mark.parametrize("fault", ["500", "529", "no json", "502"])
def test_the_models_api_is_asked_again_where_it_fails(fault):
    with Anthropic() as server:
        server.fail(fault, path="/v1/models", times=3)
        model = claude(server)
        with pytest.raises(TryLater):
            model.capabilities()
        assert model.capabilities().context_tokens == 1_000_000


@pytest.mark.parametrize("fault", ["wrong types", "200 with errors", "empty"])
def test_a_damaged_description_makes_no_model_a_poorer_one(fault):
    with Anthropic() as server, FaultyService("claude", server.url) as faulty:
        faulty.fault = Fault(fault, f"GET /v1/models/{OPUS}")
        model = Claude(SecretStr(server.key), OPUS, faulty.url, patience=0.0)
        assert model.capabilities().context_tokens == 1_000_000
    assert faulty.met == 1


def in_a_second():
    return formatdate(time.time() + 2, usegmt=True)  # whole seconds: at least one from now


LONG = AGENT.model_copy(update={"prompt": "Find the cause. " * 2_000})  # as agent files have it
SHORT = [kind for kind in KINDS if kind not in ("429 seconds", "429 date", "429 absurd", "timeout")]


@pytest.mark.parametrize("call", [f"GET /v1/models/{OPUS}", "POST /v1/messages"])
@pytest.mark.parametrize("kind", SHORT)
def test_after_a_broken_first_answer_the_analysis_ends_as_every_other(kind, call):
    with Anthropic(reads=1) as server, FaultyService("claude", server.url) as faulty:
        faulty.fault = Fault(kind, call)
        model = Claude(SecretStr(server.key), OPUS, faulty.url, pause=lambda _: None)
        found = analysed(model, agent=LONG)
        assert faulty.met == 1
    assert (found.ending.kind, found.ending.detail) == ("answered", "")
    assert (found.confidence, found.iterations) == ("high", 2)


def test_a_service_that_answers_errors_only_does_not_become_a_small_model():
    with Anthropic() as server, FaultyService("claude", server.url) as faulty:
        faulty.fault = Fault("200 with errors", f"GET /v1/models/{OPUS}", lasting=True)
        model = Claude(SecretStr(server.key), OPUS, faulty.url, pause=lambda _: None)
        with pytest.raises(TryLater, match="overloaded_error instead of the model's capabilities"):
            model.capabilities()


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        lambda: {"retry_after": "0.5"},
        lambda: {"retry_after_ms": "500"},
        lambda: {"retry_after_ms": "500", "retry_after": "30"},
        lambda: {"retry_after": in_a_second()},
    ],
    ids=["seconds", "milliseconds", "both", "a date"],
)
def test_a_wait_the_service_asks_for_is_kept(asked):
    with Anthropic() as server:
        model = claude(server)
        model.capabilities()
        server.fail("429", **asked())
        began = time.monotonic()
        assert model.reply(shown(), 600).stop == "answer"
        assert time.monotonic() - began >= 0.4


@pytest.mark.parametrize(
    "asked",
    ["3600", "1e9", "inf", formatdate(time.time() + 7_200, usegmt=True)],
    ids=["an hour", "1e9", "inf", "a date"],
)
def test_too_long_a_wait_is_not_waited_for(asked):
    with Anthropic() as server:
        server.fail("429", retry_after=asked)
        with pytest.raises(TryLater, match="rate limit"):
            claude(server).reply(shown(), 9_000)
        assert len(server.bodies) == 1


def test_what_the_service_does_not_want_tried_again_is_not():
    with Anthropic() as server:
        server.fail("429", x_should_retry="false")
        with pytest.raises(TryLater):
            claude(server).reply(shown(), 20)
        assert len(server.bodies) == 1


def test_other_credentials_of_the_environment_are_not_sent(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "sk-other")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-another")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    with Anthropic() as server:
        assert claude(server).reply(shown(), 20).stop == "answer"
        assert "sk-other" not in str(server.requests)
        assert "sk-another" not in str(server.requests)


@pytest.mark.parametrize("asked", ["-5", "nan", "soon", "", "Thu, 01 Jan 1970 00:00:00 GMT"])
def test_a_wait_that_makes_no_sense_is_not_believed(asked):
    with Anthropic() as server:
        server.fail("429", retry_after=asked)
        assert claude(server).reply(shown(), 20).stop == "answer"
        assert len(server.bodies) == 2


def test_nobody_is_there():
    with Anthropic() as server:
        address = server.url
    with pytest.raises(TryLater, match="cannot be reached"):
        Claude(SecretStr("sk-x"), "claude-opus-5-5", address, patience=0.0).reply(shown(), 10)


def test_the_key_is_never_told():
    secret = SecretStr("sk-ant-very-secret")
    with Anthropic() as server:
        model = Claude(secret, "claude-opus-5-5", server.url, patience=0.0)
        with pytest.raises(StopTheNight, match="ANTHROPIC_API_KEY") as raised:
            model.reply(shown(), 10)
    error = raised.value
    assert "invalid x-api-key …" in str(error)
    assert "very-secret" not in f"{error!r} {error.__cause__!r} {error.__context__!r} {vars(model)}"


@pytest.mark.parametrize(
    "address", ["localhost:11434", "ftp://host", "http://", "http://[::1", "https://me:pw@host"]
)
def test_an_address_that_is_none(address):
    with pytest.raises(StopTheNight, match="ANTHROPIC_BASE_URL") as raised:
        Claude(SecretStr("k"), "claude-opus-5-5", address)
    assert "pw" not in str(raised.value)


@pytest.mark.parametrize("key", ["", "sk ant", "sk-ant\n", "sk-änt"])
def test_a_key_that_is_none(key):
    with pytest.raises(StopTheNight, match="ANTHROPIC_API_KEY"):
        Claude(SecretStr(key), "claude-opus-5-5")
