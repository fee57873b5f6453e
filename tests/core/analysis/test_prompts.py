from analysis_shapes import DAY, case, group, trace
from core.lesson_shapes import lesson
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tables import tables_of

from nightwatch_core.analysis.previews import preview_text
from nightwatch_core.analysis.prompts import FIRST_MESSAGE_TOKENS, fenced, first_message
from nightwatch_core.models.code import LoggedCommit, MergedPull
from nightwatch_core.models.knowledge import FoundLearning, Match, Pattern, PriorAnalysis
from nightwatch_core.models.research import (
    CodeChanges,
    DependencyChange,
    Deployment,
    LikelyFile,
    LineAuthor,
    Onset,
    Preview,
    Rename,
    ResearchContext,
)
from nightwatch_core.text.plain_text import estimated_tokens

TABLES = tables_of(__file__)

NOTHING = ResearchContext()


KINDS = ("failing", "frame", "flow", "guess")


def preview(path="shop/cart.py", text="a = 1\nb = 2", start=7, lines=40, **more):
    end = start + text.count("\n")
    return Preview(path=path, start=start, end=end, text=text, lines=lines, **more)


def research(text="it", **more):
    pull = MergedPull(number=3, title=text, sha="f" * 40, merged_at=DAY, files=(text,))
    commit = LoggedCommit(sha="e" * 40, at=DAY, subject=text)
    told = {
        "likely_files": (LikelyFile(path=text, score=1.0, because=(text,)),),
        "changes": CodeChanges(
            onset=Onset(at=DAY, because=text),
            authors=(LineAuthor(path=text, line=3, kind="failing", commit=commit),),
            renames=(Rename(old=text, new=text, path=text, commit=commit),),
            dependencies=(DependencyChange(name=text, old=text, new=text, path=text),),
            deployment=Deployment(name=text, paths=(text,), changed=2),
            candidates=(pull,),
        ),
        "priors": (
            PriorAnalysis(
                lesson=lesson(title=text, root_cause=text, outcome=text, transaction=text),
                match=Match(score=0.8, because=(text,)),
                summary=text,
            ),
        ),
        "patterns": (
            Pattern(
                title=text, description=text, pattern_type="systemic_issue", modules=(text,),
                suggestion=text, because=(text,),
            ),
        ),
        "learnings": (FoundLearning(task_id=text, title=text, relevance=0.5, summary=text),),
        "leader_findings": (text,),
        "conventions": text,
        "previews": tuple(preview(text=text, kind=kind) for kind in KINDS),
        "tests": (text,),
    }  # fmt: skip
    return ResearchContext(**{**told, **more})


def headings(message):
    """The headings a reader of Markdown sees: what is in fences is no heading."""
    tokens = MarkdownIt().parse(message)
    return [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open"]


ALL = TABLES["headings_in_order"]


def test_everything_known_is_told_in_order():
    message = first_message(case(), (), research())
    assert headings(message) == ALL
    assert message.count("Use as context, verify independently: ") == 2  # lessons, and notes


def test_nothing_known_but_the_error():
    message = first_message(case(traced=False), (), NOTHING)
    assert headings(message) == ["The error"]
    assert "No stack trace is known" in message
    assert "AttributeError in cart/show: it broke" in message


def test_a_trace_that_the_case_lacks_is_taken_from_the_traces():
    message = first_message(case(traced=False), (trace(),), NOTHING)
    assert "shop/cart.py:2 in total  <- ours" in message


def test_previews_carry_the_lines_numbers():
    parts = (preview(text="a", start=9, until=20), preview(text="b", start=12, until=20))
    rows = " 9| a", "[10-11 left out]", "12| b", "[13-20 left out]"
    assert tuple(preview_text(*parts).splitlines()[1:]) == rows
    shown = preview_text(preview(text="a = 1\n\n  b = '\x0c\u2028'", start=99))
    assert shown.split("\n") == [
        "shop/cart.py (lines 99-101 of 40)", " 99| a = 1", "100| ", "101|   b = '\x0c\u2028'",
    ]  # fmt: skip


def test_previews_of_one_file_for_one_reason_stand_together_and_sections_in_one_fence():
    previews = (
        preview(text="b", start=9, because="used", kind="flow"),
        preview(path="shop/a.py", text="c", start=1, because="used", kind="flow"),
        preview(text="a", start=7, because="used", kind="table"),
    )
    message = first_message(case(), (), ResearchContext(previews=previews))
    shown = message.partition("comes from\n\n```\n")[2].rstrip("`\n")
    assert shown.split("\n") == [
        "shop/cart.py (lines 7-9 of 40): used", "7| a", "[8 left out]", "9| b", "",
        "shop/a.py (lines 1-1 of 40): used", "1| c",
    ]  # fmt: skip


def test_code_is_shown_as_it_is_and_other_text_without_what_nobody_sees():
    hidden = "a\u200bb\x1b[31m"
    of = case(group(message=hidden))
    message = first_message(of, (), ResearchContext(previews=(preview(text=hidden),)))
    assert message.count(hidden) == 1
    assert "7| " + hidden in message


@given(st.text(alphabet="`~\n #a", max_size=60))
def test_no_text_closes_its_fence(text):
    (fence,) = MarkdownIt().parse(fenced(text))
    assert fence.content == text + "\n"


def test_sections_are_dropped_from_the_lightest_one_on():
    big = {name: getattr(research("y" * 300), name) for name in ResearchContext.model_fields}
    kinds = ("failing", "failing", *KINDS[1:4])
    previews = tuple(
        preview(path=f"{n}.py", text="z" * 7_000, kind=kind) for n, kind in enumerate(kinds)
    )
    told = ResearchContext(**{**big, "previews": previews})
    message = first_message(case(), (), told)
    assert estimated_tokens(message) <= FIRST_MESSAGE_TOKENS
    every = [*ALL]
    assert headings(message) == every
    more = tuple(one.model_copy(update={"text": "z" * 11_000}) for one in previews)
    message = first_message(case(), (), told.model_copy(update={"previews": more}))
    assert estimated_tokens(message) <= FIRST_MESSAGE_TOKENS
    every.remove("What the transaction or the message may mean")
    assert headings(message) == every
    assert [f"{n}.py (lines" in message for n in range(5)] == [True] * 4 + [False]
