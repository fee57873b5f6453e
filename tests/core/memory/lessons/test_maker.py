"""Lessons keep what was found and their history, survive their document, and know their limits."""

import re

import pytest
from core.lesson_shapes import FIRST, analysis, case, lesson, night, seen
from hypothesis import given, settings
from hypothesis import strategies as st

from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.index import file_name
from nightwatch_core.memory.lesson_text import LIMIT, body, document, lesson_of, summary
from nightwatch_core.memory.lessons import lesson_from
from nightwatch_core.memory.occurrences import add_sighting
from nightwatch_core.memory.prior_analyses import reused_analysis
from nightwatch_core.models.analysis import Ending, RefusedEdit
from nightwatch_core.models.answer import Edit, Evidence, Learning
from nightwatch_core.models.knowledge import CitedLine
from nightwatch_core.models.proposals import Receipt
from nightwatch_core.text.frontmatter import LIMIT as MOST_READ

DIGESTS = {"app/rate.rb": "d1"}


SMALL = Edit(path="a", old="x", new="y")


def kept_of(found, *receipts, on=1, earlier=None):
    return lesson_from(found, night(on), DIGESTS, receipts, earlier)


def receipt(kind, number, status="done", fingerprint="v1:aaaaaaaabbbb"):
    return Receipt(key="k", kind=kind, fingerprint=fingerprint, status=status, number=number)


def test_a_new_lesson_holds_what_was_found():
    learned = (Learning(fact="Rates are yearly", path="app/rate.rb", line=3),)
    found = analysis(learnings=learned, fix_confidence="medium")
    new = lesson_from(found, night(1), DIGESTS, (receipt("issue", 4), receipt("pull", 9)))
    assert new.fingerprint == "v1:aaaaaaaabbbb"
    assert new.aliases == ("v1:cccc", "f1:dddd")
    assert new.tags == ("billing::ratemissing", "app", "missing-data", "billing")
    assert (new.issue_number, new.pr_number) == (4, 9)
    assert (new.first_detected, new.occurrences, new.module) == (FIRST, 9, "app/rate.rb")
    assert new.evidence == (
        CitedLine(
            path="app/rate.rb", line=12, quote="RATES.fetch(code)", digest="d1", commit="f00dfeed"
        ),
    )
    assert [(s.night, s.verdict, s.confidence) for s in new.nights] == [
        (night(1).id, "new", "high")
    ]
    assert new.learnings == ("Rates are yearly (app/rate.rb:3)",)
    assert new.has_fix
    assert new.edits == found.fix
    assert "\nconfidence: high\nfix_confidence: medium\nhas_fix: true\n" in document(new)


def test_a_claim_that_was_not_found_in_the_code_is_no_evidence():
    found = analysis(evidence=(Evidence(path="app/rate.rb", line=1, quote="invented"),))
    assert lesson_from(found, night(1), DIGESTS).evidence == ()


def test_a_later_analysis_keeps_name_file_numbers_and_first_night():
    earlier = kept_of(analysis(), receipt("issue", 4)).model_copy(update={"file": "errors/x.md"})
    later = kept_of(analysis(case("v1:cccc"), root_cause="Another."), on=3, earlier=earlier)
    assert later.fingerprint == earlier.fingerprint
    assert later.names >= {"v1:aaaaaaaabbbb", "v1:cccc", "f1:dddd"}
    assert (later.file, later.first_detected, later.issue_number) == ("errors/x.md", FIRST, 4)
    assert later.root_cause == "Another."
    assert [(s.date.day, s.verdict) for s in later.nights] == [(1, "new"), (3, "changed")]


def test_a_night_told_twice_counts_once():
    first = kept_of(analysis())
    assert kept_of(analysis(), earlier=first) == first
    assert add_sighting(first, case(), night(1)).nights == first.nights


def test_a_reused_analysis_adds_the_night_and_numbers_only():
    earlier = lesson(edits=(SMALL,), has_fix=True, tags=("a",))
    again = lesson_from(reused_analysis(earlier, case(), night(2)), night(2), {}, (), earlier)
    ours = {"nights": (), "seen_until": None, "aliases": (), "occurrences": 0}
    ours |= {"matched": 0, "last_matched": None}
    assert again.model_copy(update=ours) == earlier.model_copy(update=ours)
    assert [s.verdict for s in again.nights] == ["new", "known"]


@pytest.mark.parametrize(
    ("receipts", "numbers"),
    [
        ((receipt("issue", 4),), (4, None)),
        ((receipt("issue", 4, "already there"),), (4, None)),
        ((receipt("issue", 4, "refused"), receipt("pull", 5, "unknown")), (1, 2)),
        ((receipt("issue", 4, fingerprint="v1:other"),), (1, 2)),
        ((receipt("comment", 1), receipt("pull", 8, fingerprint="v1:cccc")), (1, 8)),
        ((receipt("issue", None),), (1, 2)),
    ],
)
def test_numbers_come_from_what_was_published_for_this_error(receipts, numbers):
    earlier = lesson(issue_number=1, pr_number=2) if numbers[0] == 1 else None
    got = kept_of(analysis(), *receipts, on=2, earlier=earlier)
    assert (got.issue_number, got.pr_number) == numbers


@pytest.mark.parametrize("read", [(), ("app/rate.rb",)])
def test_what_was_refused_and_what_was_read_come_back_on_a_later_night(read):
    refused = (RefusedEdit(path="app/pay.rb", reason="it was not read"),)
    found = analysis(read=read, evidence=(), refused=refused)
    kept = lesson_of(document(lesson_from(found, night(1), DIGESTS)), "errors/a.md")
    again = reused_analysis(kept, case(), night(2))
    assert (again.read, again.refused) == (read, refused)


def test_an_outcome_is_forgotten_with_the_fix_it_was_about():
    fix = analysis().fix
    rejected = lesson(edits=fix, has_fix=True, outcome="closed unmerged", pr_number=2)
    renamed = fix[0].model_copy(update={"description": "in other words"})
    for edit, outcome in ((fix[0], rejected.outcome), (renamed, rejected.outcome), (SMALL, "")):
        assert kept_of(analysis(fix=(edit,)), on=2, earlier=rejected).outcome == outcome


def test_file_names_are_plain_whatever_the_error_is_called():
    hostile = lesson("../../x:\u202e", error_class="../..\x00/\u65e5\u672c", transaction="~/.ssh")
    assert file_name(hostile) == "errors/2031-03-01_ssh_0.md"
    assert len(file_name(lesson(error_class="A" * 5_000))) < 100
    assert file_name(lesson("v1:F00Dfeed99", error_class="\u65e5", transaction="")) == (
        "errors/2031-03-01_error_f00dfeed.md"
    )


# reuse


def test_a_look_at_older_days_takes_nothing_back():
    known = add_sighting(lesson(), case(), night(5))
    until = night(5).window.until
    assert add_sighting(known, case(), night(2)).seen_until == until
    assert lesson_from(analysis(), night(2), DIGESTS, (), known).seen_until == until


def test_a_reused_lesson_becomes_tonights_analysis_at_no_cost():
    known = lesson(nights=seen(1, 2), issue_number=4, edits=(SMALL,), has_fix=True)
    again = reused_analysis(known, case(), night(3))
    assert again.because == ("known since 2031-03-01, 3rd night, issue #4",)
    assert again.ending == Ending(kind="reused", detail=file_name(known))
    assert (again.model, again.usage.new_tokens, again.iterations) == ("memory", 0, 0)
    assert again.fix == known.edits
    assert not any(one.verified for one in again.evidence)
    assert again.score == 0


# documents

AWKWARD = st.text(max_size=60) | st.sampled_from(
    ["---\n", "```\n", "# h\n---\nx: y", "a: b", "![x](http://x/y)", "@dana fixes #1", "<b>\n- [ ]"]
)


@settings(max_examples=60, deadline=None)
@given(AWKWARD, AWKWARD, AWKWARD)
def test_a_document_gives_the_same_lesson_back(one, two, three):
    told = lesson(
        error_class=one or "E",
        message=two,
        title="A title",
        root_cause=three,
        file="errors/x.md",
        edits=(Edit(path=one, old=two, new=three, description=one),),
        next_steps=(two, three),
        tags=(three,),
        evidence=(CitedLine(path=two, line=1, quote=three, digest="d"),),
        aliases=("v1:z",),
        issue_number=4,
    )
    text = document(told)
    assert lesson_of(text, "errors/x.md") == told
    assert lesson_of(text.encode("utf-8", "replace").decode(), "errors/x.md").root_cause == three


def test_the_body_shows_what_there_is():
    text = body(lesson_from(analysis(next_steps=("Ask billing",)), night(1), DIGESTS))
    assert [row.strip("# ") for row in text.splitlines() if row.startswith("#")] == [
        *("No rate for new countries", "Root Cause", "Evidence", "Proposed Fix", "Next Steps"),
        *("File Changes", "History"),
    ]
    assert "-RATES.fetch(code)\n+Rates.of(code)" in text
    assert "- 2031-03-01: 9 times, new" in text


def test_hostile_text_stays_text_in_the_body():
    bad = "</details><img src=x> ![i](https://evil/?q) @team /approve\n## History\n```\n---\n"
    told = lesson(title=bad, root_cause=bad, next_steps=(bad,), edits=(Edit(path="a", new=bad),))
    text = body(told)
    prose = text.split("````")[0]
    assert "img src" in prose
    assert re.search(r"(?<!\\)[<>]|(?<![\\`])!\[|(?<!`)@team", prose) is None
    assert "\n````diff\n" in text  # the fence is longer than the one inside
    assert text.count("\n## History\n") == 1
    assert len(summary(told)) <= 500


def huge(**fields):
    return lesson(**fields, title="T", file="errors/x.md")


@pytest.mark.parametrize(
    ("told", "note", "kept"),
    [
        (
            huge(has_fix=True, edits=(Edit(path="a", old="x" * 90_000, new="\x01" * 90_000),)),
            "the edits are left out",
            {"edits": ()},
        ),
        (
            huge(
                root_cause="\x02'\"\\\n\u2028" * 50_000,
                message="'" * 90_000,
                tags=("\x03" * 900,) * 900,
                next_steps=("n" * 9_000,) * 99,
                evidence=(CitedLine(path="\x01" * 900, line=1, quote="'" * 900),) * 900,
            ),
            "long texts and lists are cut",
            {},
        ),
    ],
)
def test_what_is_too_long_to_keep_is_left_out_and_said(told, note, kept):
    text = document(told)
    front = text.index("\n---\n", 4)
    assert front <= LIMIT + 10 < MOST_READ
    assert len(text.encode()) < 1024 * 1024
    assert note in text[front:]
    read = lesson_of(text, "errors/x.md")
    assert read.fingerprint == told.fingerprint
    assert all(getattr(read, name) == value for name, value in kept.items())


WRITTEN = document(lesson(title="T", tags=("billing",)))
BROKEN = (
    ("fingerprint", "name", "fingerprint: Field required"),
    ("first_detected: '2031-03-01'", "first_detected: soon", "first_detected: "),
    ("\nconfidence: high", "\nconfidence: sure", "confidence: "),
    ("- billing", "- {a: b}", "tags.0: "),
    ("occurrences: 7", "occurrences: many", "occurrences: "),
    ("v1:aaaaaaaabbbb", "x" * 300, "too long"),
    ("root_cause: ", "root_cause: &a ", "anchors"),
    (WRITTEN, "", "no front matter"),
    (WRITTEN, "# Only a body", "no front matter"),
)


@pytest.mark.parametrize(("part", "instead", "reason"), BROKEN)
def test_what_is_no_lesson_says_why(part, instead, reason):
    with pytest.raises(GiveUp) as raised:
        lesson_of(WRITTEN.replace(part, instead), "errors/x.md")
    assert reason in str(raised.value)
