import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.analysis.answers import read_answer
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.answer import Answer

MINIMAL = {"title": "T", "root_cause": "R", "confidence": "low"}


def said(**more):
    return json.dumps({**MINIMAL, **more})


def complaint(text):
    with pytest.raises(GiveUp) as raised:
        read_answer(text)
    return str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        said(),
        f"Here it is:\n\n```json\n{said()}\n```\nHope that helps {{really}}.",
        f"```\n{said()}\n```",
        f"[{said()}]",
        f'{{"answer": {said()}}}',
        f"\ufeff \n{said()}",
        json.dumps(MINIMAL, indent=4),
        'Ruby: {|x| x} and { "a" => 1 } then ' + said(),
        '{"title": "T", "root_cause": "R", "confidence": " LOW "}',
        '{"Title": "T", "rootCause": "R", "Confidence": "low"}',
        '{"title": "T", "root-cause": "R", "confidence": "low", "extra": {"deep": [1]}}',
        said(evidence=None, tags=None, suspect_commit=None, has_fix=None, hypotheses=None),
        said(file_changes=[], learnings=[None]),
        f'{{"analysis": [{said(reasoning="because", score=0.9)}]}}',
        said(evidence="[]", file_changes="none", tags="", hypotheses="N/A", learnings=["", None]),
    ],
)
def test_how_an_answer_is_wrapped_does_not_matter(text):
    assert read_answer(text) == Answer(**MINIMAL)


def test_of_several_answers_the_last_complete_one_counts():
    draft, final = said(title="draft"), said(title="final")
    assert read_answer(f"{draft}\nOn reflection:\n{final}").title == "final"
    assert read_answer(f'{draft}\n{{"title": "just a title"}}').title == "draft"
    assert read_answer(f'{{"title": "an example"}}\n{final}').title == "final"
    assert read_answer(f'{final}\n{{"title": "cut off", "root_ca').title == "final"


def test_an_answer_quoted_inside_an_answer_is_not_taken():
    outer = said(title="outer", root_cause=said(title="planted"))
    assert read_answer(outer).title == "outer"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON object"),
        ("I could not find the cause.", "no JSON object"),
        ("{}", "no JSON object"),
        ('{"evidence": []}', "no JSON object"),
        (said()[:-1], "cut off"),
        ('{"title": "T", }', "not valid"),
        ('{"title": "T", "confidence": "low"}', "root_cause"),
        (said(confidence="high or low"), "confidence"),
        (said(evidence=[{"line": 3}]), "evidence.0.path"),
        (said(file_changes=[{"path": "a", "action": "rename"}]), "file_changes.0.action"),
        (said(has_fix="perhaps"), "has_fix"),
        (said(file_changes="Rename the field."), "file_changes.0"),
        ("{'title': 'T', 'root_cause': 'R', 'confidence': 'low'}", "no JSON object"),
        (json.dumps("I could not find it."), "no JSON object"),
        ('{"title": "T", "n": ' + "1" * 5_000 + "}", "too deep"),
        ('{"a":' * 50_000, "too deep"),
        ('{"title": ' + "[" * 50_000, "too deep"),
    ],
)
def test_what_cannot_be_read_is_given_up_with_what_is_wrong(text, words):
    assert words in complaint(text)


def test_items_are_tidied():
    read = read_answer(
        said(
            evidence=[
                {"path": "a.py", "line": "12", "quote": None, "extra": 1, "verified": True},
                {"path": "b.py", "line": "12-14"},
                {"path": "c.py:7"},
                {"path": "d.py:7-9", "line": 8},
                {"Path": "e.py", "line": 3.0},
                {"path": "f.py", "line": None},
                {"path": "g.py", "line": 10**40},
                None,
            ]
        )
    ).evidence
    assert [(e.path, e.line) for e in read[:6]] == [
        ("a.py", 12), ("b.py", 12), ("c.py", 7), ("d.py", 8), ("e.py", 3), ("f.py", 0),
    ]  # fmt: skip
    assert read[6].line <= 10_000_000
    assert not any(one.verified for one in read)


def test_a_fix_is_meant_where_edits_are_given_and_nothing_is_said():
    edits = [{"path": "a", "old": "x", "new": "y"}]
    assert read_answer(said(file_changes=edits)).has_fix
    assert not read_answer(said(file_changes=edits, has_fix=False)).has_fix
    assert not read_answer(said()).has_fix


@pytest.mark.parametrize(
    "text",
    [
        '{"' * 200_000,
        '{"a":1}' * 57_000,
        '{"title":' * 44_000,
        "{" * 400_000,
        '{"a":"' + "x" * 10_000_000,
        " " * 10_000_000 + said(),
    ],
)
def test_hostile_text_is_given_up_quickly(text):
    complaint(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from((*Answer.model_fields, "path", "line", "x")), inner, max_size=5
        )
    ),
    max_leaves=20,
)


@given(JSON, st.text(max_size=20))
def test_any_json_is_read_or_given_up(value, around):
    text = f"{around}{json.dumps(value)}{around}"
    read, why = None, ""
    try:
        read = read_answer(text)
    except GiveUp as trouble:
        why = str(trouble)
    assert bool(read) != bool(why)
    if read:
        read.model_dump_json()


@pytest.mark.parametrize(
    ("given", "read"), [("Medium", "medium"), ("n/a", None), (None, None), (7, None)]
)
def test_the_second_confidence_is_never_worth_another_question(given, read):
    told = {"title": "T", "root_cause": "R", "confidence": "high", "fix_confidence": given}
    assert read_answer(json.dumps(told)).fix_confidence == read
