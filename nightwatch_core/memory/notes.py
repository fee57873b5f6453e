"""Learnings that were found, as the YAML that agents read and as a block for a prompt.

What they say came from people, models and errors. Titles are quoted, summaries stand indented in
blocks, and in the prompt `<` is escaped: nothing in them ends the shape around them.
"""

import json
import re
from collections.abc import Sequence

from nightwatch_core.memory.researcher import THRESHOLD
from nightwatch_core.models.knowledge import FoundLearning
from nightwatch_core.text.escaping import clean, line

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?::[A-Za-z0-9_./-]+)?")
_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_UNREADABLE = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # by YAML


def as_yaml(found: Sequence[FoundLearning], threshold: float = THRESHOLD) -> str:
    """YAML in the researcher's shape; a list without items is `[]`.

    >>> found = FoundLearning(task_id="task-1", title="Add search", relevance=0.85,
    ...                       summary="Problem: N+1", source_sections=("future-agent-notes",))
    >>> print(as_yaml([found]), end="")
    learnings_found: 1
    relevance_threshold: 0.3
    <BLANKLINE>
    relevant_learnings:
      - task_id: task-1
        title: "Add search"
        relevance: 0.85
        summary: |
          Problem: N+1
        source_sections: [future-agent-notes]
    """
    head = f"learnings_found: {len(found)}\nrelevance_threshold: {threshold:g}\n"
    if not found:
        return f"{head}\nrelevant_learnings: []\n"
    return f"{head}\nrelevant_learnings:\n" + "\n".join(map(_entry, found))


def past_learnings(found: Sequence[FoundLearning]) -> str:
    """Return the `<past-learnings>` block of a research document, with its count.

    >>> print(past_learnings([]))
    <past-learnings>
      <count>0</count>
      <learnings>
        learnings_found: 0
        relevance_threshold: 0.3
    <BLANKLINE>
        relevant_learnings: []
      </learnings>
    </past-learnings>
    """
    text = as_yaml(found).rstrip("\n").replace("&", "&amp;").replace("<", "&lt;")
    inside = "\n".join(f"    {row}" if row else "" for row in text.split("\n"))
    return (
        f"<past-learnings>\n  <count>{len(found)}</count>\n  <learnings>\n{inside}\n"
        "  </learnings>\n</past-learnings>"
    )


def _entry(learning: FoundLearning) -> str:
    sections = ", ".join(_scalar(line(name, 60)) for name in learning.source_sections)
    return (
        f"  - task_id: {_scalar(line(learning.task_id, 200))}\n"
        f"    title: {_quoted(line(learning.title, 200))}\n"
        f"    relevance: {learning.relevance:.2f}\n"
        f"    summary: {_block(learning.summary)}"
        f"    source_sections: [{sections}]\n"
    )


def _block(text: str) -> str:
    """A literal block; every line of it starts with a word, so that no indicator is needed."""
    rows = [
        kept
        for row in _UNREADABLE.sub("", clean(text)).replace("\t", " ").split("\n")
        if (kept := row.strip())
    ]
    if not rows:
        return '""\n'
    return "|\n" + "".join(f"      {row}\n" for row in rows)


def _scalar(text: str) -> str:
    """A name as plain as YAML allows, else quoted.

    >>> _scalar("v1:0a"), _scalar("null"), _scalar("a, b")
    ('v1:0a', '"null"', '"a, b"')
    """
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if is_plain else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(_UNREADABLE.sub("", text), ensure_ascii=False)
