from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from services.nrql_table import Parser

from nightwatch_core.adapters.new_relic import nrql
from nightwatch_core.models.errors import Window
from nightwatch_core.text.templates import transaction_template

END = datetime(2026, 11, 21, 4, tzinfo=UTC)
WINDOW = Window(since=END - timedelta(days=1), until=END)
SURROGATES_TOO = st.text(st.characters(exclude_categories=()), max_size=300)
NAMES = SURROGATES_TOO | st.text("'\\\"`%\n\0 <>n()=-/A", max_size=300)


@given(NAMES, NAMES)
@example("x' OR error.class IS NULL LIMIT MAX --", "\\")
@example("\\'", "%" * 300)
@example("<n>\ud800", "line\nbreak\0")
def test_no_name_changes_a_query_and_every_name_is_found(name, transaction):
    template = transaction_template(transaction)
    text = nrql.occurrences(("GUID",), WINDOW, name, template)
    query = Parser(text).parse()
    assert (query.event, query.limit, query.newest_first) == ("ErrorTrace", 500, True)
    assert (query.since, query.until) == (1795147200000, 1795233600000)
    assert query.facets == []
    assert len(query.literals) == 2 + bool(template)
    event = {"entityGuid": "GUID", "error.class": name, "transactionName": transaction}
    assert query.where(event)
    assert not query.where({**event, "entityGuid": "another"})


@given(NAMES)
def test_a_plain_name_matches_only_itself(name):
    condition = nrql.matching("error.class", name)
    query = Parser(f"SELECT id FROM ErrorTrace WHERE {condition} SINCE 1 UNTIL 2").parse()
    assert query.where({"error.class": name})
    if " = " in condition.partition("'")[0]:
        assert query.literals == [name]
        assert not query.where({"error.class": name + "x"})


@given(NAMES)
def test_a_literal_is_read_back_or_refused(text):
    try:
        said = nrql.literal(text)
    except ValueError:
        assert len(text) > 1_000 or not text.isprintable()
        return
    query = Parser(f"SELECT id FROM ErrorTrace WHERE id = {said} SINCE 1 UNTIL 2").parse()
    assert query.literals == [text]


@pytest.mark.parametrize("text", ["\0", "a\nb", "\x7f", "\u2028", "\ud800", "x" * 1_001])
def test_what_cannot_be_said_is_refused(text):
    with pytest.raises(ValueError, match="value"):
        nrql.literal(text)


@pytest.mark.parametrize(
    "text",
    [
        nrql.errors(("A", "B"), WINDOW, nrql.DETAIL),
        nrql.errors(("A",), WINDOW, nrql.FACETS[:1], nrql.OUTSIDE),
        nrql.versions(("A",), WINDOW, "service.version"),
        nrql.hourly(("A",), WINDOW),
        nrql.count(("A",), WINDOW),
    ],
)
def test_every_query_is_understood(text):
    query = Parser(text).parse()
    assert query.literals[0] == "A"
    assert query.until == 1795233600000


def test_a_query_that_the_service_refuses_for_its_length_is_not_made():
    with pytest.raises(ValueError, match="longer"):
        nrql.count(tuple("G" * 100 for _ in range(50)), WINDOW)
    longest = nrql.occurrences(("G" * 100,) * 10, WINDOW, "🔥" * 300, "🔥" * 300)
    assert len(longest.encode()) <= nrql.LONGEST_QUERY
