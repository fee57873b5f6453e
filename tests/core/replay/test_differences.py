from nightwatch_core.replay.players import counts, differences

NIGHT = {
    "status": "complete",
    "errors": {
        "v1:a": {"error": "KeyError in pay", "root_cause": "no key", "score": 1, "tags": []}
    },
    "proposals": {"k1": {"kind": "issue", "key": "k1", "title": "It fails"}},
    "took": {"requests": 2, "new tokens": 1200, "USD": 0.5},
}


def test_equal_nights_have_no_differences():
    assert differences(NIGHT, dict(NIGHT)) == ()


def test_what_was_decided_otherwise_is_named_what_matters_first():
    verdict = {"error": "KeyError in pay", "root_cause": "no value", "score": 2, "tags": [1]}
    draft = {"kind": "pull", "key": "k2", "title": "Fix it"}
    after = {**NIGHT, "errors": {"v1:a": verdict}, "proposals": {"k2": draft}}
    assert differences(NIGHT, after) == (
        "~ error v1:a KeyError in pay: root_cause: no key → no value",
        "~ error v1:a KeyError in pay: score: 1 → 2",
        "~ error v1:a KeyError in pay: tags: [] → [1]",
        "- proposal issue k1 It fails",
        "+ proposal pull k2 Fix it",
    )


def test_a_night_is_counted_in_a_line_and_hostile_values_do_no_harm():
    assert counts(NIGHT) == (
        "1 verdicts, 1 issues, 0 drafts, 0 comments, 2 requests, 1,200 new tokens, $0.50"
    )
    hostile = {"errors": ["no mapping"], "proposals": {"\x1b[31m": 3}, "took": {"USD": None}}
    assert counts(hostile) == (
        "0 verdicts, 0 issues, 0 drafts, 0 comments, ? requests, ? new tokens, cost unknown"
    )
    assert not any("\x1b" in text for text in differences(NIGHT, hostile))
