from analysis_shapes import analysis
from hypothesis import given, settings
from hypothesis import strategies as st

from nightwatch_core.analysis.run_context import LONGEST, run_context
from nightwatch_core.models.analysis import Learning


def test_siblings_are_told_finding_learnings_files_and_patterns():
    leader = analysis(
        title="No price",
        root_cause="It is called cost.",
        learnings=(Learning(fact="Prices are in cents", path="shop/cart.py", line=2),),
        read=("shop/cart.py", "shop/pay.py"),
        tags=("race-condition", "external-api"),
    )
    assert run_context(leader) == (
        "No price (high; shop/cart.py): It is called cost.",
        "learned: Prices are in cents (shop/cart.py:2)",
        "files examined: shop/cart.py, shop/pay.py",
        "patterns seen: race-condition, external-api",
    )


def test_nothing_is_said_of_nothing():
    assert len(run_context(analysis(read=(), learnings=(), tags=()))) == 1


def test_files_are_named_whole_or_counted():
    read = tuple(f"app/models/{'x' * 90}_{n}.rb" for n in range(40))
    (_, files) = run_context(analysis(read=read))
    named = files.removeprefix("files examined: ").split(", ")
    assert named[-1] == f"and {40 - len(named) + 1} more"
    assert set(named[:-1]) <= set(read)
    assert len(named) > 5


TEXT = st.text(max_size=40).map(lambda text: text * 30)


@settings(max_examples=40, deadline=None)
@given(TEXT, st.lists(TEXT, max_size=9), st.lists(TEXT, max_size=60), st.lists(TEXT, max_size=9))
def test_it_is_bounded(text, facts, read, tags):
    leader = analysis(
        title=text, root_cause=text, read=tuple(read), tags=tuple(tags),
        learnings=tuple(Learning(fact=fact, path=text) for fact in facts),
    )  # fmt: skip
    lines = run_context(leader)
    assert sum(len(line) + 1 for line in lines) <= LONGEST
    summaries = [line for line in lines if not line.startswith(("files examined", "patterns"))]
    assert len(summaries) <= 4
    assert all(len(line) <= 200 for line in summaries)
    assert not any("\n" in line for line in lines)
