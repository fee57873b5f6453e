from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from graphql import build_schema, parse, validate
from services.nerdgraph import KEY, SCHEMA, NerdGraphService
from tables import tables_of

from nightwatch_core.adapters.new_relic.groups import frames_document
from nightwatch_core.adapters.new_relic.nerdgraph import (
    LONGEST_BODY,
    QUERIES,
    BadKey,
    BadQuery,
    Denied,
    NerdGraph,
    Throttled,
    TooSlow,
    Unwell,
    address,
)
from nightwatch_core.adapters.new_relic.source import nrql_document
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater

TABLES = tables_of(__file__)

QUICK = httpx.Timeout(connect=5.0, read=1.5, write=5.0, pool=10.0)


def client(service, **given):
    values = {"times": QUICK, "deadline": 5.0, "pause": lambda _: None, **given}
    return NerdGraph(values.pop("key", KEY), service.url, **values)


@pytest.mark.parametrize(("region", "expected"), TABLES["test_regions_and_addresses"])
def test_regions_and_addresses(region, expected):
    assert address(region) == expected


@pytest.mark.parametrize("wrong", TABLES["test_the_key_is_not_sent_to_other_addresses"])
def test_the_key_is_not_sent_to_other_addresses(wrong):
    with pytest.raises(StopTheNight, match="NEW_RELIC_REGION"):
        NerdGraph(KEY, wrong)


@pytest.mark.parametrize("key", ["", "  ", "NRAK\nX-Evil: 1", "ключ"])
def test_what_cannot_be_a_key_is_said_before_asking(service, key):
    with pytest.raises(BadKey, match="NRAK"):
        client(service, key=key)
    assert service.requests == []


def test_a_question_and_its_answer(service):
    answer = client(service).ask(PING)
    assert answer.at("actor", "user", "email") == "bot@example.org"
    with pytest.raises(Unwell, match="left out"):
        answer.at("actor", "elsewhere")


def test_every_document_fits_the_public_schema():
    schema = build_schema(SCHEMA)
    for text in (*QUERIES.values(), nrql_document(("whole", "detail")), frames_document(3)):
        assert validate(schema, parse(text)) == []


PING = QUERIES["ping"]
KINDS = (
    ("errors", {"code": "BAD_API_KEY", "name": "error_code"}, BadKey, StopTheNight),
    ("errors", {"code": "ACCESS_DENIED"}, Denied, StopTheNight),
    ("errors", {"code": "TOO_MANY_REQUESTS"}, Throttled, TryLater),
    ("errors", {"code": "TIMEOUT"}, TooSlow, TryLater),
    ("errors", {"code": "INVALID_INPUT"}, BadQuery, GiveUp),
    ("errors", {"code": "INTERNAL_SERVER_ERROR"}, Unwell, TryLater),
    # What a message quotes does not decide where there is a code.
    ("errors", {"code": "INVALID_INPUT", "message": "'invalid api key'"}, BadQuery, GiveUp),
    ("status", {"status": 401}, BadKey, StopTheNight),
    ("status", {"status": 418}, BadQuery, GiveUp),
    ("status", {"status": 503}, Unwell, TryLater),
    ("status", {"status": 404}, StopTheNight, StopTheNight),
    ("status", {"status": 307}, Unwell, TryLater),
    ("429", {}, Throttled, TryLater),
    ("cut", {}, Unwell, TryLater),
    ("slow", {"seconds": 2.5}, TooSlow, TryLater),
    ("answer", {"document": {"data": 5}}, Unwell, TryLater),
    ("answer", {"document": {"errors": ["odd", None, 3]}}, Unwell, TryLater),
    ("huge", {"size": LONGEST_BODY + 2_000_000}, TooSlow, TryLater),
)


@pytest.mark.parametrize(("how", "given", "kind", "to_do"), KINDS)
def test_every_failure_has_its_kind(service, how, given, kind, to_do):
    service.fail(how, times=2, **given)
    with pytest.raises(kind) as raised:
        client(service).ask(PING).at("actor")
    assert isinstance(raised.value, to_do)
    assert raised.value.__cause__ is None  # no vendor's exception, which may quote a request


def test_nobody_listens():
    with NerdGraphService() as gone:
        url = gone.url
    with pytest.raises(Unwell, match="cannot be reached"):
        NerdGraph(KEY, url, times=QUICK, pause=lambda _: None).ask(PING)


def test_an_answer_that_drips_ends_at_the_deadline(service):
    service.fail("drip", seconds=3.0)
    with pytest.raises(TooSlow, match="too slowly"):
        client(service, deadline=0.3).ask(PING)


@pytest.mark.parametrize(("retry_after", "waited"), TABLES["test_it_waits_as_told_within_reason"])
def test_it_waits_as_told_within_reason(service, retry_after, waited):
    waits = []
    service.fail("429", retry_after=retry_after)
    asked = client(service, pause=waits.append)
    assert asked.ask(PING).at("actor", "user", "id") == 7
    assert waits == [waited]
    assert len(service.requests) == 2


@pytest.mark.parametrize(
    ("retry_after", "told"),
    [
        ("61", "61 seconds"),
        ("9" * 20, "86,400 seconds"),
        ("Wed, 21 Oct 2065 07:28:00 GMT", "86,400 seconds"),
    ],
)
def test_it_does_not_wait_for_long(service, retry_after, told):
    waits = []
    service.fail("429", retry_after=retry_after)
    with pytest.raises(Throttled, match=f"fewer requests, and to wait {told}"):
        client(service, pause=waits.append).ask(PING)
    assert (waits, len(service.requests)) == ([], 1)


def test_it_asks_twice_and_no_more(service):
    service.fail("status", times=9, status=502)
    with pytest.raises(Unwell):
        client(service).ask(PING)
    assert len(service.requests) == 2


def test_a_part_may_fail_alone(service):
    service.fail("errors", code="TIMEOUT", path=["actor", "user"])
    answer = client(service).ask(PING)
    assert answer.at("actor", "accounts") == [{"id": 1, "name": "main"}]
    for path in (("actor", "user"), ("actor", "user", "email"), ("actor",)):
        with pytest.raises(TooSlow):
            answer.at(*path)


def test_at_most_four_at_once(service):
    service.fail("slow", times=12, seconds=0.05)
    asked = client(service, times=httpx.Timeout(5.0))
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: asked.ask(PING), range(12)))
    assert len(answers) == 12
    assert 2 <= service.most_at_once <= 4


def test_the_key_shows_nowhere(service):
    service.fail(
        "errors", code="ACCESS_DENIED", message=f"key {KEY}\nis\x1b[31m weak " + "x" * 9_999
    )
    asked = client(service)
    with pytest.raises(Denied) as raised:
        asked.ask(PING).at("actor")
    said = str(raised.value)
    assert KEY not in said + repr(asked) + repr(vars(asked)["_client"])
    assert "\n" not in said
    assert "\x1b" not in said
    assert len(said) < 500
