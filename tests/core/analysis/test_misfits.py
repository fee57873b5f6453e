"""Nights that read other code than failed: the mistakes that were shown with a check mark."""

from datetime import timedelta

import pytest
from analysis_shapes import COMMIT, DAY, analysed, answer, group, says, tree
from tables import tables_of
from twins.reading import MemoryModel

from nightwatch_core.analysis.prompts import first_message
from nightwatch_core.analysis.research import gather
from nightwatch_core.code.record_fit import with_doubts
from nightwatch_core.models.code import MergedPull
from nightwatch_core.models.errors import Case
from nightwatch_core.models.options import NightOptions
from nightwatch_core.rules.engine import RulesModel
from nightwatch_core.traces.parsing import parse
from nightwatch_core.traces.placing import PathIndex, place_frames

TABLES = tables_of(__file__)

VIEW = TABLES["VIEW"]
MODEL = TABLES["MODEL"]
FILES = {"app/views/inbox/show.html.erb": VIEW, "app/cart.py": MODEL}
RUBY = """\
ActionView::Template::Error (undefined method 'name' for nil):
app/views/inbox/show.html.erb:{line}:in '_app_views_inbox_show'
"""
PYTHON = TABLES["PYTHON"]
# The line of the fix, a line of markup, and blank ones
WRONG = {
    "the upstream fix": PYTHON.format(
        line=3, code="    return sum(one.price for one in self.lines)\n"
    ),
    "markup": RUBY.format(line=2),
    "a blank line of a template": RUBY.format(line=3),
    "a blank line": PYTHON.format(line=4, code=""),
}
RIGHT = {"template": RUBY.format(line=4), "python": PYTHON.format(line=3, code="")}


NAMED = COMMIT.model_copy(update={"is_named": True})


def case_of(raw, commit=NAMED):
    code = tree(FILES)
    trace = place_frames(parse(raw), PathIndex(code.paths()), code.read_file, NightOptions())
    link = trace.root
    leader = group(error_class=link.error_class, message=link.message)
    case = Case(leader=leader, trace=trace, commit=commit)
    return with_doubts(case, code.read_file), code


def researched(case, code):
    pull = MergedPull(
        number=7, title="Show names", sha="a" * 40, merged_at=DAY - timedelta(hours=3),
        files=tuple(FILES),
    )  # fmt: skip
    index = PathIndex(code.paths())
    return gather(case, index, code.read_file, pulls=(pull,), search=code.search, code=code)


def said_of(case, code):
    """What a model says that takes the line of the trace for the failing one."""
    top = case.trace.top
    rows = FILES[top.repo_path].split("\n")
    quote = next(row for row in rows[top.line - 1 :] if row.strip())
    place = {"path": top.repo_path, "line": rows.index(quote) + 1, "quote": quote.strip()}
    return says(answer(evidence=[place], suspect_commit="#7", root_cause=f"{top.place} fails."))


@pytest.mark.parametrize("raw", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("who", ["rules", "model"])
def test_nothing_of_other_code_gets_a_check_mark_a_suspect_or_a_fix(raw, who):
    case, code = case_of(raw)
    research = researched(case, code)
    model = RulesModel() if who == "rules" else MemoryModel([said_of(case, code)])
    found = analysed(model, case, code=code, research=research)
    assert found.misfit.startswith("the record does not fit this commit: app/")
    assert research.suspects == found.suspects == ()
    assert (found.fix, found.suspect_commit, found.confidence) == ((), "", "low")
    assert not any(one.verified for one in found.evidence)
    assert found.second_look is None
    assert research.misfit in first_message(case, (), research)


@pytest.mark.parametrize("raw", RIGHT.values(), ids=RIGHT)
def test_the_right_code_is_verified(raw):
    case, code = case_of(raw)
    research = researched(case, code)
    found = analysed(RulesModel(), case, code=code, research=research)
    assert found.misfit == research.misfit == ""
    assert any(one.verified for one in found.evidence)
