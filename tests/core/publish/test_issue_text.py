import re
from datetime import datetime, timedelta, timezone

import pytest
from analysis_shapes import DAY, FIX, analysis, case, group, trace
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tables import tables_of

from nightwatch_core.code.related_code import Places, Reach
from nightwatch_core.models.analysis import BaseBranchStatus, RefusedEdit
from nightwatch_core.models.answer import Edit, Evidence, Handover, Hypothesis
from nightwatch_core.models.code import Commit, MergedPull, Suspect
from nightwatch_core.models.errors import Triage
from nightwatch_core.models.proposals import Check, Correction, GateResult, Reproduction
from nightwatch_core.publish import issue_text
from nightwatch_core.publish.issue_text import (
    BODY_LIMIT,
    FindingView,
    comment_body,
    commit_message,
    issue_body,
    issue_title,
    labels,
    pull_body,
    pull_title,
)
from nightwatch_core.text.markers import marker, read_marker

TABLES = tables_of(__file__)

NEW_RELIC = {"service": "New Relic", "inbox": "Errors Inbox"}

HOSTILE = TABLES["hostile"]


def issue(of, *more):
    return issue_body(FindingView(of, *more), "k", "n")


def suspect(number=3, title="Rename", sha="f" * 40, at=DAY, **more):
    pull = MergedPull(number=number, title=title, sha=sha, merged_at=at)
    return Suspect(pull=pull, score=0.5, **more)


HARMLESS = {"text", "softbreak", "text_special", "strong_open", "strong_close", "html_inline"}


def hostile_gate(text):
    """A gate result in which a project and a model say everything."""
    tried = Correction(outcome="failed", because=text, first_failed=text, output=text)
    made = Reproduction(
        outcome="reproduced", name=text, error_class=text, frames=(text,), red=text,
        green=text,
    )  # fmt: skip
    return GateResult(
        outcome="passed", text=text, reproduction=made, correction=tried, preexisting=(text,),
        flaky=(text,), checks=(Check(name=text, outcome="failed", text=text, output=text),),
    )  # fmt: skip


def hostile(text):
    team = Triage(state="regressed", assignee=" ".join(text.split()), **NEW_RELIC)
    told = group(message=text, error_class=text, transaction=text, release=text, triage=team)
    of = case(told)
    return analysis(
        of.model_copy(update={"trace": trace(raw=text)}),
        title=text, root_cause=text, next_steps=(text,), because=(text,),
        evidence=(Evidence(path=text, line=1, quote=text, note=text),),
        fix=(Edit(path=text, old=text, new=text + text, description=text),),
        hypotheses=(
            Hypothesis(statement=text, because=text),
            Hypothesis(statement=text, standing="ruled out", because=text),
        ),
        suspect_commit=text, fix_confidence="low", question=text, misfit="", model="rules",
        doubt=text,
        refused=(RefusedEdit(path=text, reason=text),),
        base_branch_status=BaseBranchStatus(kind="changed", sha=text, detail=text),
        gate=hostile_gate(text),
        suspects=(suspect(3, text, text, of.leader.first_seen, because=(text,)),),
    )  # fmt: skip


def handed_over(text):
    """Everything that is known where no cause is, said by a stranger."""
    return Handover(
        unknown=text, path=text, line=3, lines=(text, text), first_line=2, value=text,
        last_change=text, look_at=(text, text),
    )  # fmt: skip


def bodies(of):
    """What is said of it: alone, and with a twin and a repository of its kind."""
    commit = Commit(repository=of.title, sha=of.commit, address="https://github.com/acme/shop")
    doubted = of.model_copy(update={"misfit": of.title, "case": of.case})
    unknown = doubted.model_copy(update={"handover": handed_over(of.title)})
    place = Places(of.title, (of.title,), 1)
    reach = Reach(users=(place, place._replace(number=0)), unmended=(place,))
    return tuple(
        body
        for told in (
            FindingView(of),
            FindingView(of, (of,), commit, reach=reach, near=(of,), no_draft=of.title),
            FindingView(doubted, (), commit),
            FindingView(unknown, (), commit),
        )
        for body in (
            issue_body(told, "k1", "n1"),
            comment_body(told, "k1", "n1", of.title),
            pull_body(told, "k1", "n1", 12),
        )
    )


def prose(body):
    """What is left of a body once code and our own marker are taken out, as a reader renders it."""
    words = []
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(body):
        words += [c for c in token.children or () if c.type not in ("code_inline",)]
        assert token.type not in ("html_block",) or token.content.startswith(("<!-- n", "<details>",
            "</details>")), token.content  # fmt: skip
    return words


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_from_outside_does_anything(text):
    for body in bodies(hostile(text)):
        inline = prose(body)
        linked = {token.attrGet("href") for token in inline if token.type == "link_open"}
        assert all(one.startswith("https://github.com/acme/shop/") for one in linked)
        assert {token.type for token in inline} <= HARMLESS | {"link_open", "link_close"}
        html = [token.content for token in inline if token.type == "html_inline"]
        assert set(html) <= {"<details>", "<summary>", "</summary>", "</details>"}
        plain = " ".join(token.content for token in inline if token.type == "text")
        assert not re.search(r"@\w|GH-\d|://|#(?!12\b)\d", plain)
        assert "evil" not in plain or "`" not in plain


@pytest.mark.parametrize("text", HOSTILE)
def test_titles_and_commit_messages_ping_close_and_skip_nothing(text):
    of = hostile(text)
    unknown = of.model_copy(update={"handover": handed_over(text)})
    told = FindingView(of, (), Commit(repository="acme/mono", sha="c" * 40))
    titles = (issue_title(told), issue_title(FindingView(unknown)), pull_title(told))
    message = commit_message(FindingView(of), None)
    for words in (*titles, message):
        assert not re.search(r"@\w|GH-\d|#\d|:(?=//)|\u202e|\x1b", words)
    for title in titles:
        assert 0 < len(title) <= 120
        assert "\n" not in title
    for words in (titles[-1], message):
        assert not re.search(r"\[ ?(skip|ci|no)\b|\*{3}", words, re.IGNORECASE)


def test_the_last_paragraph_of_a_commit_message_is_no_trailer():
    words = commit_message(
        FindingView(analysis(root_cause="Co-authored-by: Eve <e@example.org>")), None
    )
    assert words.split("\n\n")[-1].startswith("Root cause: ")
    assert commit_message(FindingView(analysis()), 12).endswith("\n\nRefs #12\n")


def test_markers_go_round():
    mark = read_marker(marker("v1:0a1b", "0123456789abcdef", "2026-11-20-ab-2"))
    assert (mark.fingerprint, mark.key, mark.night) == (
        "v1:0a1b", "0123456789abcdef", "2026-11-20-ab-2",
    )  # fmt: skip
    assert read_marker("\ufeff\r\n" + marker("v1:a", "k", "") + "\r\nText").night == ""


@pytest.mark.parametrize(
    "body",
    [
        "",
        "Text",
        "Text\n" + marker("v1:a", "k", "n"),
        "> " + marker("v1:a", "k", "n"),
        "<!-- nightwatch:v1 fp= key=k run=n -->",
        "<!-- nightwatch:v1 fp=v1:a key=k -->",
        "<!-- nightwatch:v2 fp=v1:a key=k run=n -->",
        "<!-- nightwatch:v1 fp=v1:a key=k run=n",
        "<!-- nightwatch:v1 fp=v1:\u00e4 key=k run=n -->",
        " " * 10_000_000,
    ],
)
def test_what_is_no_marker_is_not_read(body):
    assert read_marker(body) is None


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_a_marker_is_one_comment_whatever_is_put_in(fingerprint, key, night):
    text = marker(fingerprint, key, night)
    assert "\n" not in text
    assert text.count("-->") == 1
    assert text.endswith(" -->")


def test_an_issue_says_everything_in_its_order():
    of = analysis(
        fix=(FIX,),
        suspect_commit="f" * 40,
        next_steps=("Look again.",),
        hypotheses=(Hypothesis(statement="Late.", standing="ruled out", because="It is not."),),
        suspects=(suspect(because=("touches cart.py",)),),
    )
    body = issue(of)
    order = ("Application `shop`", "5 occurrences", "Root cause", "Confidence: high", "Evidence",
             "Proposed fix", "Suspected change", "Next steps", "Considered",
             "Stack trace", "Found by")  # fmt: skip
    places = [body.index(words) for words in order]
    assert places == sorted(places)
    assert "-    return" not in body
    assert "-line.price\n+line.cost" in body
    assert "Change" in pull_body(FindingView(of), "k", "n", None)
    assert labels(of) == ("nightwatch", "confidence-high", "has-fix")


LINKED = Commit(repository="acme/shop", sha="c" * 40, address="https://github.com/acme/shop")


def test_places_and_commits_are_links_where_the_repository_is_on_the_web():
    of = analysis(root_cause="shop/cart.py:2 came with 0a1b2c3d4e; see cart.py:9.")
    body = issue(of, (), LINKED)
    at = f"https://github.com/acme/shop/blob/{of.commit}/shop/cart.py#L2"
    assert body.count(f"[`shop/cart.py:2`](<{at}>)") == 2
    assert "[`0a1b2c3d4e`](<https://github.com/acme/shop/commit/0a1b2c3d4e>)" in body
    assert "see `cart.py:9`" in body
    assert "](" not in issue(of)


def test_application_and_repository_stand_in_every_message():
    told = FindingView(analysis(), (), LINKED)
    for body in (
        issue_body(told, "k", "n"), comment_body(told, "k", "n", "News"),
        pull_body(told, "k", "n", None),
    ):  # fmt: skip
        assert "Application `shop` · repository `acme/shop` · read at [`" in body


def test_evidence_beyond_three_pieces_is_folded_what_holds_first():
    pieces = tuple(
        Evidence(path="a.py", line=n, quote=f"x = {n}", verified=n != 1) for n in range(1, 6)
    )
    body = issue(analysis(evidence=pieces))
    order = ("a.py:2", "a.py:4", "<details><summary>2 more</summary>", "a.py:5", "a.py:1")
    assert [body.index(one) for one in order] == sorted(body.index(one) for one in order)


def test_what_is_refused_is_named_without_its_text_and_is_no_fix():
    refused = (RefusedEdit(path=".github/workflows/ci.yml", reason="it configures CI"),)
    of = analysis(refused=refused)
    body = issue(of)
    assert "## Not proposed\n\n- `.github/workflows/ci.yml`: it configures CI" in body
    assert "Proposed fix" not in body
    assert "has-fix" not in labels(of)


@pytest.mark.parametrize(
    ("sure", "label"), [("high", ""), ("medium", "A product choice: "), (None, "")]
)
def test_what_is_asked_is_always_shown_however_sure_the_fix_is(sure, label):
    asked = f"{label}empty editor or 400?"
    told = FindingView(analysis(fix=(FIX,), fix_confidence=sure, question=asked))
    for body in (
        issue_body(told, "k", "n"), comment_body(told, "k", "n", "News"),
        pull_body(told, "k", "n", 1),
    ):  # fmt: skip
        sureness = f"high for the cause, {sure} for the fix"
        assert (f"Confidence: {sureness}." in body) == (sure == "medium")
        assert "## Question for the team\n\n- empty editor or 400?" in body
    assert "question" not in issue(analysis(fix=(FIX,), fix_confidence=sure))


def test_why_a_confidence_is_lower_than_it_was_said_stands_beside_it():
    why = "said high, but shop/pay.py:90, which the cause rests on, was not read"
    told = FindingView(analysis(confidence="medium", doubt=why))
    assert f"Confidence: medium; {why.replace('shop/pay.py:90', '`shop/pay.py:90`')}." in (
        issue_body(told, "k", "n")
    )
    unfit = analysis(confidence="low", doubt=why, misfit="line 2 is blank there")
    assert "Confidence: low." in issue(unfit)


@pytest.mark.parametrize(("days", "age"), [(900, "2 years"), (100, "3 months"), (29, ""), (-3, "")])
def test_a_named_change_far_older_than_the_first_sighting_says_its_age(days, age):
    first = analysis().case.leader.first_seen
    old = suspect(at=first - timedelta(days=days))
    body = issue(analysis(suspect_commit="f" * 40, suspects=(old,)))
    assert "Suspected change" in body
    assert ("older than the first occurrence" in body) == bool(age)
    assert f"it is {age} older than the first occurrence" in body or not age


def test_a_record_that_does_not_fit_names_no_change_and_no_fix():
    named = {"suspect_commit": "f" * 40, "suspects": (suspect(),)}
    of = analysis(misfit="line 2 is blank there", fix=(FIX,), **named)
    body = issue(of)
    assert "The error record does not match this commit: line 2 is blank there." in body
    for word in ("Suspected", "Rename", "Proposed fix", "not found in the code"):
        assert word not in body
    assert "has-fix" not in labels(of)


def test_only_the_change_that_the_analysis_names_is_suspected():
    suspects = tuple(suspect(n, f"Pull {n}", f"{n}" * 40) for n in (3, 4))
    body = issue(analysis(suspects=suspects, suspect_commit="4" * 10))
    assert "Pull 4" in body
    assert "Pull 3" not in body
    assert "Pull" not in issue(analysis(suspects=suspects, model="claude-opus-4-5"))
    unknown = analysis(suspects=suspects, suspect_commit="a1b2c3d4e5f6")
    assert "- commit `a1b2c3d4e5`" in issue(unknown)
    direct = suspect(0, "Refactor Crawler:", "4f" * 20)
    body = issue(analysis(suspects=(direct,), suspect_commit="4f" * 5))
    assert "- commit `4f4f4f4f4f` “Refactor Crawler”, committed 2" in body


def test_our_arithmetic_stays_with_us():
    of = analysis(score=0.84, iterations=1, because=("a quoted line was found (+0.25)",))
    for body in bodies(of):
        assert not re.search(r"0\.84|turn|\+0\.25", body)


def test_brackets_stay_unless_they_switch_checks_off():
    told = case(group(transaction="dict[str, int] of [skip ci] and [ci-skip]"))
    of = analysis(told, root_cause="Invoice#lines #3")
    named = pull_title(FindingView(of))
    where = "dict[str, int] of (skip ci) and (ci-skip)"
    assert named == f"Fix AttributeError in {where} (not proved)"
    assert "Root cause: Invoice#lines 3" in commit_message(FindingView(of), None)


def test_times_are_told_in_utc_whatever_the_source_counts_in():
    there = timezone(timedelta(hours=5, minutes=30))
    seen = datetime(2026, 11, 21, 3, 15, tzinfo=there)
    body = issue_body(FindingView(analysis(case(group(last_seen=seen)))), "k", "n")
    assert "last 2026-11-20 21:45 UTC" in body


def test_a_regression_and_who_looks_after_it_are_told():
    of = analysis(
        case(group(triage=Triage(state="regressed", assignee="@dana *now*", **NEW_RELIC)))
    )
    told = (
        "Errors Inbox: a regression: resolved in New Relic's Errors Inbox, and back; "
        "assigned to `@dana` \\*now\\*\n"
    )
    assert told in issue(of)
    assert told in comment_body(FindingView(of), "k1", "n1", "News")
    assert "Errors Inbox" not in issue(analysis())


def test_what_is_not_known_leaves_no_empty_words():
    bare = group(first_seen=None, last_seen=None, message="", release="", users=None)
    body = issue(analysis(case(bare, traced=False), evidence=()))
    for leftover in ("()", "None", "UTC", "users", "## Evidence", "## Change", "```"):
        assert leftover not in body


def test_only_our_issue_is_referred_to_and_nothing_is_closed():
    body = pull_body(FindingView(analysis()), "k", "n", 12)
    assert "Refs #12" in body
    assert "Refs" not in pull_body(FindingView(analysis()), "k", "n", None)
    assert not re.search(r"(?i)\b(close[sd]?|fix(e[sd])?|resolve[sd]?)\s+#", body)


def test_a_title_of_nothing_visible_is_the_errors():
    hidden = FindingView(analysis(title="\u200b\u202e"))
    assert issue_title(hidden) == "AttributeError in cart/show"
    nothing = analysis(case(group(error_class="\u200b", transaction="")), title="")
    assert issue_title(FindingView(nothing)) == "Production error"


@pytest.mark.slow
def test_huge_texts_are_bounded_and_every_fence_is_closed():
    text = "`" * 50 + "x & <y> | * _z_ @a #1\n" * 10_000
    of = hostile(text)
    many = of.model_copy(
        update={
            "evidence": of.evidence * 50, "fix": of.fix * 50, "next_steps": of.next_steps * 50,
            "hypotheses": of.hypotheses * 50, "suspects": of.suspects * 50,
            "case": case(group(message=text), others=(group("v1:b", error_class=text),) * 200),
            "root_cause": ("p" * 100 + "\n\n") * 10_000,
        }
    )  # fmt: skip
    made = (*bodies(of), *bodies(many))
    assert max(map(len, made)) <= BODY_LIMIT
    assert "and 191 more" in made[12]
    for body in made[12:]:
        last = MarkdownIt("gfm-like", {"linkify": False}).parse(body)[-1]
        assert last.type != "fence" or body.rstrip().endswith(f"\n{last.markup}")


def test_a_part_that_does_not_fit_is_left_out_whole_and_the_rest_is_told():
    huge = "word " * 30_000
    body = issue_text._joined("head", "first", huge, "last")
    assert body == "head\n\nfirst\n\nlast\n\n(More is in the night's report.)\n"


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=80))
def test_any_text_gives_bodies_that_begin_with_our_marker(text):
    for body in bodies(hostile(text)):
        assert body.startswith("<!-- nightwatch:v1 fp=v1:a key=k1 run=n1 -->\n")
        assert len(body) <= BODY_LIMIT
        body.encode()


def test_a_commit_message_keeps_addresses_readable_and_links_none():
    of = analysis(
        root_cause="A URL such as https://example.com:8080/ or `curl https://b.example/c`."
    )
    words = " ".join(commit_message(FindingView(of), None).split())
    assert "such as example.com:8080/ or `curl b.example/c`." in words
    of = analysis(root_cause="It fixes `https://github.com/shop/shop/issues/5` at once.")
    assert "://" not in commit_message(FindingView(of), None)
    of = analysis(root_cause="It cuts `http://` off.")
    assert "It cuts `http` off." in commit_message(FindingView(of), None)


@pytest.mark.parametrize("name", TABLES["titles"])
def test_a_change_is_named_by_its_error_and_an_item_by_its_application(name):
    leader, repository, expected = TABLES["titles"][name]
    of = analysis(case(group(**leader)), title="No total")
    told = FindingView(of, (), Commit(repository=repository, sha="c" * 40))
    subject = commit_message(told, None).split("\n")[0]
    assert [issue_title(told), pull_title(told), subject] == expected
    assert len(subject) <= 72


def test_the_number_of_a_change_is_told_once():
    seven = suspect(7, "Add links (#7)", "0a1b2c3d4e" * 4)
    text = issue(analysis(suspect_commit="#7", suspects=(seven,)))
    assert "- pull request `#7` “Add links” (`0a1b2c3d4e`), merged" in text


def test_sentences_that_are_joined_end_once():
    open_one = Hypothesis(statement="The host is None.", because="line 3 says so.", standing="open")
    edits = (Edit(path="a.py", old="x", new="y", description="One thing."),
             Edit(path="a.py", old="z", new="w", description="Another"))  # fmt: skip
    body = issue(analysis(hypotheses=(open_one,), fix=edits))
    assert "- The host is None: line 3 says so." in body
    assert "`a.py` (+2 -2): One thing. Another." in body
