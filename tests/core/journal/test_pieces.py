import json

import pytest

from nightwatch_core.errors import GiveUp
from nightwatch_core.journal.pieces import Cutter, canonical, joined, name_of, reached, references


def cut(value: object) -> tuple[str, dict[str, str]]:
    pieces: dict[str, str] = {}
    return Cutter(lambda text: text, pieces.__setitem__).cut(value), pieces


VALUE = {
    "turns": [{"text": "a" * 900, "n": n} for n in range(3)],
    "$": 1,
    "$ref": {"$": "no piece"},
    "half": "\ud800",
    "ä": [None, True, 1.5],
}


def test_what_was_cut_is_put_together_again():
    text, pieces = cut(VALUE)
    assert joined(json.loads(text), pieces) == VALUE


def test_a_text_that_stands_three_times_is_kept_once():
    _, pieces = cut(VALUE)
    assert sum("a" * 900 in text for text in pieces.values()) == 1


def test_equal_values_have_equal_bytes_whatever_their_order():
    backwards = dict(reversed(list(VALUE.items())))
    assert cut(VALUE) == cut(backwards)
    text, _ = cut({"b": (1,), "a": "x"})
    assert text == canonical({"a": "x", "b": [1]})


def test_every_piece_is_reached_and_named_by_what_it_holds():
    text, pieces = cut(VALUE)
    assert reached(references(json.loads(text)), pieces) == set(pieces)
    assert {name_of(one) for one in pieces.values()} == set(pieces)


def test_a_missing_piece_is_told():
    text, pieces = cut(VALUE)
    with pytest.raises(GiveUp, match="lacks a piece"):
        joined(json.loads(text), {})


def test_pieces_that_name_each_other_do_not_fill_the_memory():
    pieces, inner = {}, json.dumps("x" * 100)
    for _ in range(60):  # 2 to the 60th times the text
        name = name_of(inner)
        pieces[name] = inner
        inner = canonical([{"$": name}, {"$": name}])
    with pytest.raises(GiveUp, match="larger than any night's"):
        joined(json.loads(inner), pieces, most=100_000)
    assert len(reached(references(json.loads(inner)), pieces)) == 60
