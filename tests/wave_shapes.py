"""Three cases that were prepared for analysis: two of one family, and another."""

from analysis_shapes import COMMIT, DAY, group, trace

from nightwatch_core.analysis.waves import Prepared, first_wave
from nightwatch_core.models.assignment import CodeTonight, UnexplainedCase
from nightwatch_core.models.errors import Case, Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.models.research import ResearchContext

NIGHT = Night(id="n1", window=Window(since=DAY, until=DAY), now=DAY)
CODE = CodeTonight(commit=COMMIT)


def prepared(name, path="shop/cart.py", line=2):
    one = trace(path, line, raw=name)
    of = Case(leader=group(f"v1:{name}", transaction=f"{name}/show"), trace=one)
    return Prepared(unknown=UnexplainedCase(case=of, traces=(one,)), research=ResearchContext())


# a and b fail in one file, c elsewhere with another class
A, B = prepared("a"), prepared("b", line=9)
C = Prepared(
    unknown=UnexplainedCase(
        case=Case(
            leader=group("v1:c", "TypeError", "pay/new"), trace=trace("lib/pay.py", 5, "TypeError")
        )
    ),
    research=ResearchContext(),
)


def first(*cases, **choices):
    return first_wave(NightOptions(**choices), NIGHT, CODE, cases)
