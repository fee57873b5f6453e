"""The researcher's YAML, and its block for a prompt."""

import yaml
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.memory.researcher import as_yaml, past_learnings
from nightwatch_core.models.knowledge import FoundLearning

TABLES = tables_of(__file__)
WRITTEN = TABLES["written"]
FOUND = FoundLearning(**yaml.safe_load(WRITTEN)["relevant_learnings"][0] | {"relevance": 0.8511})


def test_the_yaml_has_the_seeds_keys_in_their_order() -> None:
    assert as_yaml([FOUND]) == WRITTEN
    assert as_yaml([]).endswith("relevant_learnings: []\n")


WORDS = st.sampled_from(
    ["</learnings>", "```", "\n", "- a: b", "'", '"', "[", "]", ", ", "#", "|", "  ", "v1:a", "&x"]
    + ["\x1b[31m", "\u202e", "null", "1e3", "---", "\u2028", "{", "%", "*a", "!t"]
)
TEXTS = st.lists(st.one_of(WORDS, st.text(max_size=8)), max_size=6).map("".join)
LEARNINGS = st.builds(
    FoundLearning,
    task_id=TEXTS,
    title=TEXTS,
    relevance=st.floats(0, 1),
    summary=TEXTS,
    source_sections=st.lists(TEXTS, max_size=3).map(tuple),
)


@given(st.lists(LEARNINGS, max_size=3))
def test_hostile_text_stays_where_it_belongs(found: list[FoundLearning]) -> None:
    read = yaml.safe_load(as_yaml(found))
    assert read["learnings_found"] == len(found) == len(read["relevant_learnings"])
    for one, kept in zip(read["relevant_learnings"], found, strict=True):
        assert list(one) == ["task_id", "title", "relevance", "summary", "source_sections"]
        assert all(isinstance(one[name], str) for name in ("task_id", "title", "summary"))
        assert all(isinstance(name, str) for name in one["source_sections"])
        assert len(one["source_sections"]) == len(kept.source_sections)
        assert "\x1b" not in one["summary"]


@given(st.lists(LEARNINGS, max_size=3))
def test_nothing_closes_the_block_early(found: list[FoundLearning]) -> None:
    text = past_learnings(found)
    assert text.count("<") == 6
    assert text.endswith("  </learnings>\n</past-learnings>")
