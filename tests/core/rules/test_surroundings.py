"""Tests of clues that messages hold, and of the changes that brought a line."""

from datetime import UTC, datetime

import pytest
from small_repo import case, explained, frame, opening

from nightwatch_core.code.languages import PYTHON
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.code import Blame, MergedPull, Suspect
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.rules.findings import FailingLine
from nightwatch_core.rules.known_code import Context, KnownCode
from nightwatch_core.rules.model import SHAPES, telling_shape

LINE = FailingLine(path="shop/feed.py", line=3, language=PYTHON, seen=True)
SHOWN = [
    "could not convert string to float: '12,90'",
    "could not convert string to float: '1,234.50'",
    "could not convert string to float: '$12'",
    "invalid literal for int() with base 10: ''",
    "invalid literal for int() with base 10: 'None'",
    "Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
    "Expecting value: line 1 column 1 (char 0)",
    "time data '01/02/2026' does not match format '%Y-%m-%d'",
]


@pytest.mark.parametrize(("said", "shape"), tuple(zip(SHOWN, SHAPES, strict=True)))
def test_refused_text_is_described_by_its_shape(said, shape):
    finding = telling_shape(Symptom(kind="parse error", text=f"E: {said}"), LINE)
    assert shape[1] in finding.because[0]


def test_ordinary_text_has_no_telling_shape():
    assert not telling_shape(
        Symptom(kind="parse error", text="E: invalid literal 'abc'"), LINE
    ).because
    assert not telling_shape(Symptom(kind="timeout", text="E: '12,90'"), LINE).because


def test_a_quoted_value_is_found_where_the_code_writes_it():
    files = {
        "shop/label.py": (
            "def service(p):\n    if p.kind == 'chilled':\n        return 'chilled'\n"
            "    return 'plain'\n\n\ndef book(p):\n    return carrier.book(service(p))\n"
        )
    }
    frames = (frame("carrier.py", 3, "book", in_app=False), frame("shop/label.py", 8, "book"))
    answer, _ = explained(case("Refused", "may not book 'chilled' today", *frames), files)
    assert [e.line for e in answer.evidence] == [8]
    assert any("shop/label.py:3, shop/label.py:2" in one for one in answer.handover.look_at)
    assert answer.confidence == "low"
    assert not answer.has_fix


def test_a_missing_record_points_to_what_deletes_it():
    files = {
        "shop/products.py": (
            "def find(db, id):\n    row = db.one('SELECT', id)\n    if row is None:\n"
            "        raise RecordNotFound('product', id)\n    return row\n\n\n"
            "def withdraw(db, id):\n    db.write('DELETE FROM products WHERE id = ?', id)\n"
        ),
        "shop/orders.py": "def show(db, order):\n    return find(db, order.product_id)\n",
    }
    frames = (frame("shop/products.py", 4, "find"), frame("shop/orders.py", 2, "show"))
    missing = case("RecordNotFound", "product 17 not found", *frames)
    written = {
        ("shop/products.py", 4): ("a" * 40, "2026-01-01"),
        ("shop/products.py", 9): ("b" * 40, "2026-02-01"),
    }
    answer, _ = explained(missing, files, written)
    assert answer.evidence[0].line == 4
    assert answer.root_cause == "Not known: how it comes to what shop/products.py:4 refuses."
    assert any("shop/products.py:9 deletes a product" in one for one in answer.handover.look_at)
    assert answer.suspect_commit == ""
    assert not answer.has_fix


@pytest.mark.parametrize(
    ("sha", "number"),
    [
        ("1" * 10, 1),  # a squashed pull request is the commit
        ("2" * 10, 2),  # a merge may have written the line itself
        ("9" * 10, 2),  # a commit that the merge took along
        ("8" * 10, None),  # touching the file is no proof
    ],
)
def test_a_line_came_with_the_pull_request_that_took_it_along(sha, number):
    at = datetime(2026, 2, 2, tzinfo=UTC)
    told = {"title": "t", "merged_at": at, "files": ("a.py",)}
    suspects = (
        Suspect(pull=MergedPull(number=2, sha="2" * 40, commits=("9" * 40,), **told), score=0.5),
        Suspect(pull=MergedPull(number=1, sha="1" * 40, **told), score=0.5),
    )
    research = ResearchContext(suspects=suspects)
    context = Context(case("E", "m"), research, KnownCode(opening(case("E", "m"))))
    at = datetime(2026, 2, 1, tzinfo=UTC)
    blame = Blame(sha=sha, author="Ann", at=at, subject="Change", line=1, text="x")
    found = context.suspect_of(blame)
    assert (found.pull.number if found else None) == number


def test_a_key_that_other_code_writes_to_other_mappings_is_not_followed():
    files = {
        "shop/pay.py": "def pay(client):\n    reply = client.post(1)\n    return reply['token']\n",
        "shop/orders.py": "def mark(order, token: str):\n    order.row['token'] = token\n",
    }
    answer, _ = explained(case("KeyError", "'token'", frame("shop/pay.py", 3, "pay")), files)
    assert answer.root_cause == (
        "shop/pay.py:3 reads key `token` of `reply`, which does not hold it. It is what "
        "`client.post(1)` gave in shop/pay.py:2, and no line between asks what it holds."
    )
    assert "shop/orders.py" not in answer.model_dump_json()
