"""Whatever a model sends as arguments, a tool answers with a bounded text and raises nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st
from small_repo import SmallRepo, case, frame
from twins.reading import MemoryLibraries

from nightwatch_core.analysis import tools
from nightwatch_core.analysis.tools import SPECS
from nightwatch_core.models.code import Library
from nightwatch_core.models.conversation import ToolCall

FILES = {
    "app/order.py": "class Order:\n    def total(self):\n        return 1\n" * 90,
    "tests/test_order.py": "from app.order import Order\n",
    "we ird/-o.py\u202e": "x" * 5_000,
    "locale/de.po": 'msgid "total"\n' * 200,
    "logo.png": None,
    "empty.py": "",
}
BOX = Library(ecosystem="python", package="box", version="1")
LIBRARIES = MemoryLibraries({BOX: {"box/a.py": "def total():\n    return 1\n"}})
PARAMETERS = {spec.name: spec.parameters["properties"] for spec in SPECS}
CASE = case("KeyError", "'a'", frame("app/order.py", 3, "total"))
WORDS = st.sampled_from(
    (
        *("total", "Order.total", "app/order.py", "app", "", "/", "..", "../../etc/passwd", "*"),
        *("--output=x", "-e", ":(glob)**", "a\nb", "\x00", "\u202e", "(" * 40, "[", "{a,b}" * 9),
        *("#12", "HEAD", "a" * 40, "abcdef0", "box/a.py", "box", "site-packages/box/../x.py"),
        *("true", "12", "x" * 3_000, "we ird/-o.py\u202e", "empty.py", "logo.png", "\ud800"),
    )
)
VALUES = st.one_of(
    WORDS, st.integers(-(10**20), 10**20), st.none(), st.booleans(), st.floats(allow_nan=True),
    st.lists(WORDS, max_size=12), st.dictionaries(WORDS, WORDS, max_size=2),
)  # fmt: skip


@st.composite
def calls(draw):
    name = draw(st.sampled_from((*PARAMETERS, "rm")))
    known = list(PARAMETERS.get(name, ()))
    names = st.sampled_from((*known, "query", "line", "sha", "other"))
    return ToolCall(id="1", name=name, arguments=draw(st.dictionaries(names, VALUES, max_size=5)))


@settings(max_examples=400, deadline=None)
@given(calls(), st.booleans())
def test_any_call_is_answered(call, knows):
    shown = frozenset(f"app/order.py:{n}" for n in range(1, 200, 3)) if knows else frozenset()
    result = tools.run(call, SmallRepo(FILES), CASE, (), shown, LIBRARIES)
    assert result.text
    assert len(result.text) <= tools.LIMITS.get(call.name, 1_000) + 4_000
    assert not any(sign in result.text for sign in "\x00\u202e")
