"""The one layout of a `<future-agent-notes>` section: two spaces a level, text escaped."""

from collections.abc import Iterable

from nightwatch_core.models.learning import Decision, Notes, Problem


def section(notes: Notes) -> str:
    """The section of notes that were normalised; no line end after it.

    >>> print(section(Notes(decisions=(Decision(choice="Keep <T>"),))))
    <future-agent-notes>
      <decisions>
        <decision>
          <choice>Keep &lt;T></choice>
        </decision>
      </decisions>
    </future-agent-notes>
    """
    stamp = f"  <timestamp>{notes.timestamp}</timestamp>" if notes.timestamp else ""
    parts = (
        stamp,
        _group("problems", map(problem_text, notes.problems)),
        _group("decisions", map(decision_text, notes.decisions)),
        _group("gotchas", map(gotcha_text, notes.gotchas)),
    )
    inside = "\n\n".join(part for part in parts if part)
    return f"<future-agent-notes>\n{inside}\n</future-agent-notes>"


def problem_text(problem: Problem) -> str:
    """One `<problem>`; what is empty is left out.

    >>> print(problem_text(Problem(what="Slow", symptoms=("30s",))).strip())
    <problem>
          <what>Slow</what>
          <symptoms>
            - 30s
          </symptoms>
        </problem>
    """
    symptoms = "\n".join(f"        - {_escaped(symptom)}" for symptom in problem.symptoms)
    parts = (
        _element("what", problem.what, 6),
        f"      <symptoms>\n{symptoms}\n      </symptoms>" if symptoms else "",
        _element("root-cause", problem.root_cause, 6),
        _element("solution", problem.solution, 6),
        _element("prevention", problem.prevention, 6),
    )
    return _item("problem", parts)


def decision_text(decision: Decision) -> str:
    """One `<decision>`; what is empty is left out."""
    parts = (
        _element("choice", decision.choice, 6),
        _element("alternatives", decision.alternatives, 6),
        _element("rationale", decision.rationale, 6),
    )
    return _item("decision", parts)


def gotcha_text(gotcha: str) -> str:
    """One `<gotcha>`."""
    return _element("gotcha", gotcha, 4)


def _group(name: str, items: Iterable[str]) -> str:
    inside = "\n".join(items)
    return f"  <{name}>\n{inside}\n  </{name}>" if inside else ""


def _item(name: str, parts: Iterable[str]) -> str:
    inside = "\n".join(part for part in parts if part)
    return f"    <{name}>\n{inside}\n    </{name}>"


def _element(name: str, text: str, depth: int) -> str:
    """An element on one line; text of several lines stands indented between its tags."""
    pad = " " * depth
    if "\n" not in text:
        return f"{pad}<{name}>{_escaped(text)}</{name}>" if text else ""
    lines = "\n".join(f"{pad}  {line}".rstrip() for line in _escaped(text).split("\n"))
    return f"{pad}<{name}>\n{lines}\n{pad}</{name}>"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
