import pytest
from core.memory.recall.recall_shapes import case, link

from nightwatch_core.memory.recall.search_document import (
    FIELDS,
    MOST_TERMS,
    SearchDocument,
    classes,
    document_of_case,
    names,
    template,
    terms_of,
    transaction,
    words,
)


@pytest.mark.parametrize(
    ("error_class", "message", "found"),
    [
        ("a.b.JMSException", "java.io.EOFException", ["JMSException", "EOFException"]),
        (
            "HiveException",
            "x.RuntimeException: y.KryoException: null",
            ["HiveException", "RuntimeException", "KryoException"],
        ),
        ("Net::ReadTimeout", "Net::ReadTimeout with #<TCPSocket>", ["ReadTimeout", "ReadTimeout"]),
        ("KeyError", "the terror of errors", ["KeyError"]),
    ],
)
def test_classes_are_told_by_wrapped_messages_too(error_class, message, found):
    seen = [
        name for name in classes(SearchDocument(error_class=error_class, message=message)) if name
    ]
    assert [name for name in seen if name != "terror"] == found


def test_classes_of_causes_count():
    of = case(links=(link("A", "outer"), link("pkg.DiskFullError", "no space: left")))
    assert "DiskFullError" in list(classes(document_of_case(of)))


def test_ids_numbers_addresses_and_quoted_values_do_not_count():
    one = SearchDocument(message="order 17 of 'a b' at 10.1.2.3 has 0xff", transaction="GET /o/17")
    other = SearchDocument(
        message="order 98 of 'c d' at 10.9.8.7 has 0x1a", transaction="GET /o/98"
    )
    for field in (template, words, transaction):
        assert list(field(one)) == list(field(other))


def test_words_of_frames_survive_a_rename_in_part():
    one = set(names(SearchDocument(frames=("HadoopThriftAuthBridge.getProperties",))))
    other = set(names(SearchDocument(frames=("HadoopThriftAuthFactory.getProperties",))))
    assert one & other == {"hadoop", "thrift", "auth", "get", "properties"}


def test_the_same_word_in_two_fields_is_two_terms():
    found = terms_of(SearchDocument(error_class="Total", message="Total", frames=("a.Total",)))
    numbers = [set(field) for field in found.fields]
    assert sum(map(len, numbers)) == len(set().union(*numbers))


def test_an_empty_footprint_has_no_terms():
    assert terms_of(SearchDocument()).lengths == (0,) * len(FIELDS)


def test_terms_are_bounded_and_quick_to_make():
    hostile = ("A" * 2_000 + " " + "aB" * 5_000 + ".:\\$" * 2_000 + "Exception" * 500)[:8_192]
    found = terms_of(
        SearchDocument(
            error_class=hostile, message=hostile, frames=(hostile,) * 60, causes=(hostile,)
        )
    )
    assert max(found.lengths) <= MOST_TERMS
    assert max(found.all) < 2**32
