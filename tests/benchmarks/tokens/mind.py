"""A mind that answers from evidence: it knows nothing but the request it is sent.

It cannot tell who asks. For its error it wants to see a list of facts; each is wanted as soon as
something it was told mentions it, and seen once its line stands in the conversation. What is
missing it looks for as an engineer would, the first of these that applies:

* without a stack trace: ask for it, and perhaps open the file the transaction's name suggests;
* the file is not known, and no import names it: open the one that is plausible, then search for
  the name (with five lines around hits, where the tool can, if it is one to read around places);
* a place is known (`path:line` beside the name, from a trace or a search): read there, 40 lines
  around it or, as is its habit, the whole file first;
* search the name in the file, and go on at its definition, then at its other places; then read on
  below and above, at last in steps of 200 lines.

All facts seen, it answers. With tools off, or told in so many words to end, it answers with what it
saw, says so, and names no cause that it did not see. Thinking is paid for as the effort asks: 120,
300 or 600 tokens a turn, twice that for an answer, in the ratio of the budgets the seeds had (4, 8,
12 thousand at most).
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from benchmarks.tokens.words import Fact, Scenario

_HEAD = re.compile(r"^([\w@.~+/-]+\.\w{1,10})(?:[ :].*)?$")
_PROSE = 160  # characters of a row that make it more than a frame or a hit
_NUMBERED = re.compile(r"^ *(\d{1,6})\| ?(.*)$")


@dataclass
class Shown:
    """Everything a mind can know: `told` by us or tools, never by itself."""

    told: str = ""
    found: str = ""  # the same without answers that are errors
    lines: dict[str, dict[int, str]] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def number(self, path: str, text: str) -> int:
        """The line of `path` on which a text was shown or quoted; 1 where no number was."""
        known = self.lines.get(path, {})
        quoted = re.search(rf"{re.escape(path)}:(\d+) *{re.escape(text)}", self.found)
        otherwise = int(quoted[1]) if quoted else 1
        return next((number for number, shown in known.items() if text in shown), otherwise)

    def places(self, path: str, symbol: str) -> list[int]:
        """Lines of the file that were named together with the symbol, in their order.

        A frame or a hit counts before a place that a longer text mentions, perhaps of another
        error, and the line that defines the name before its other lines.
        """
        name = re.escape(path.rpartition("/")[2])
        place = re.compile(rf'(?<![\w.-]){name}(?:", line |:)(\d+)')
        rows = [row for row in self.told.split("\n") if symbol in row]
        rows.sort(key=lambda row: len(row) > _PROSE)
        named = [int(found[1]) for row in rows for found in place.finditer(row)]
        defines = re.compile(rf"\b(?:def|function|Object)\s+{re.escape(symbol)}\b")
        known = [(n, text) for n, text in self.lines.get(path, {}).items() if symbol in text]
        known.sort(key=lambda one: not defines.search(one[1]))
        defined = [n for n, text in known if defines.search(text)]
        seen = [n for n in named if n not in {number for number, _ in known}]
        return list(dict.fromkeys((*seen, *defined, *named, *(n for n, _ in known))))

    def asked(self, name: str, **given: Any) -> bool:
        """Whether a call was made with these arguments, whatever else it held."""
        return any(
            tool == name and all(said.get(key) == value for key, value in given.items())
            for tool, said in self.calls
        )


def shown(body: dict[str, Any]) -> Shown:
    """Read a request of the Messages API."""
    seen, told, found = Shown(), [], []
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "tool_use":
                seen.calls.append((block["name"], block["input"]))
            elif message["role"] == "user":
                text = _text(block)
                told.append(text)
                found += [] if block.get("is_error") else [text]
    seen.told, seen.found = "\n".join(told), "\n".join(found)
    path = ""
    for row in seen.found.split("\n"):
        if head := _HEAD.match(row):
            path = head[1]
        elif path and (numbered := _NUMBERED.match(row)):
            seen.lines.setdefault(path, {})[int(numbered[1])] = numbered[2]
    return seen


def _text(block: dict[str, Any]) -> str:
    if block["type"] == "text":
        return str(block["text"])
    content = block.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(str(item.get("text", "")) for item in content)


AROUND, STEP, CONTEXT, MOST_AT_ONCE = 40, 200, 5, 4
THINKING = {"low": 120, "medium": 300, "high": 600}
END = "no more tools"  # words by which every design ends a conversation
FIX_ALONE = "Only the fix is wanted"
TURNED_DOWN = "not to be proposed again unchanged"
NOTHING = "The cause is not clear from what could be read."

Call = tuple[str, dict[str, Any]]


def turn(scenario: Scenario, body: dict[str, Any]) -> tuple[list[Call], str]:
    """Calls to make, or the answer's text."""
    seen = shown(body)
    missing = [fact for fact in scenario.facts if fact.text not in seen.found]
    calls = _calls(scenario, missing, seen, _tools(body)) if missing else []
    told = _fix_alone if FIX_ALONE in seen.told else _answer
    return (calls, "") if calls else ([], told(scenario, missing, seen))


def answer(scenario: Scenario, seen: Shown) -> str:
    """What it says of what it has seen."""
    return _answer(scenario, [fact for fact in scenario.facts if fact.text not in seen.found], seen)


def thinking(body: dict[str, Any], answering: bool) -> int:
    """Tokens of thinking in this turn; none where the request asks for none."""
    if not body.get("thinking"):
        return 0
    said = [body, *(message for message in body["messages"] if "output_config" in message)]
    effort = said[-1].get("output_config", {}).get("effort", "medium")
    return THINKING.get(effort, THINKING["high"]) * (2 if answering else 1)


def _tools(body: dict[str, Any]) -> dict[str, Any]:
    """Names of tools that may be called, with the names of what they take."""
    if body.get("tool_choice", {}).get("type") == "none" or _is_asked_to_end(body):
        return {}
    return {item["name"]: set(item["input_schema"]["properties"]) for item in body.get("tools", ())}


def _is_asked_to_end(body: dict[str, Any]) -> bool:
    """Whether the last thing said is that tools are over."""
    last = [message for message in body["messages"] if message["role"] == "user"][-1]["content"]
    said = last if isinstance(last, str) else last[-1].get("text", "")
    return END in said.lower()


def _calls(
    scenario: Scenario, missing: list[Fact], seen: Shown, tools: dict[str, Any]
) -> list[Call]:
    if not tools:
        return []
    calls = _without_a_trace(scenario, seen)
    more = {"context": CONTEXT} if "context" in tools["search_code"] and not scenario.whole else {}
    wanted = [fact for fact in missing if fact.symbol in seen.told]
    for fact in wanted:
        call = _look(scenario, fact, seen, more)
        calls += [call] if call and call not in calls else []
    able = [call for call in calls if call[0] in tools]
    return able[: MOST_AT_ONCE if scenario.together else 1]


def _without_a_trace(scenario: Scenario, seen: Shown) -> list[Call]:
    frames = [row.strip() for row in scenario.raw.split("\n")[1:] if len(row.strip()) > 20]
    if any(row in seen.told for row in frames[-3:]) or any(
        seen.places(fact.path, fact.symbol) for fact in scenario.facts[:1]
    ):
        return []
    calls: list[Call] = [] if seen.asked("get_error_traces") else [("get_error_traces", {})]
    guess = scenario.first_guess
    if guess and guess not in seen.told and not seen.asked("read_file", path=guess):
        calls.append(("read_file", {"path": guess}))
    return calls


def _look(scenario: Scenario, fact: Fact, seen: Shown, more: dict[str, Any]) -> Call | None:
    if fact.path not in seen.told and (not fact.module or fact.module not in seen.told):
        return _seek(fact, seen, more)
    known, read = seen.lines.get(fact.path, {}), ("read_file", {"path": fact.path})
    whole = any(said == read[1] for tool, said in seen.calls if tool == "read_file")
    if scenario.whole and not whole and not known:
        return read
    places = seen.places(fact.path, fact.symbol)
    for line in places:
        call = _range(fact.path, line - AROUND, line + AROUND)
        if line not in known and not seen.asked(call[0], **call[1]):
            return call
    if not seen.asked("search_code", query=fact.symbol):
        return ("search_code", {"query": fact.symbol, "path": fact.path, **more})
    for line in places:
        for near in (range(line, line + 2 * AROUND), range(line - 2 * AROUND, line)):
            gap = next((n for n in near if n > 0 and n not in known), 0)
            call = _range(fact.path, gap - 1, gap + AROUND)
            if 0 < gap <= _end(seen, fact.path) and not seen.asked(call[0], **call[1]):
                return call
    return read if not whole else _onward(fact.path, seen)


def _seek(fact: Fact, seen: Shown, more: dict[str, Any]) -> Call | None:
    """The next thing to try for a file that is not known."""
    if fact.guess and not seen.asked("read_file", path=fact.guess):
        return ("read_file", {"path": fact.guess})
    if not seen.asked("search_code", query=fact.symbol):
        return ("search_code", {"query": fact.symbol, **more})
    return None


def _onward(path: str, seen: Shown) -> Call | None:
    known, end = seen.lines.get(path, {}), _end(seen, path)
    gap = next((number for number in range(1, end + 1) if number not in known), 0)
    call = _range(path, gap, gap + STEP)
    return call if gap and not seen.asked(call[0], **call[1]) else None


def _range(path: str, start: int, end: int) -> Call:
    return ("read_file", {"path": path, "start": max(start, 1), "end": end})


def _end(seen: Shown, path: str) -> int:
    """How many lines the file has, as far as it was said."""
    size = re.compile(rf"{re.escape(path)}(?: \(lines? \d[^()]* of (\d+)\)|, (\d+) lines)")
    said = (size.match(row) for row in seen.found.split("\n"))
    return max((int(item[1] or item[2]) for item in said if item), default=0)


def _changed(fault: Fact, again: bool) -> str:
    """The line as a fix has it: never what it was; and `again`, as no fix had it."""
    remark = "#" if fault.path.endswith((".rb", ".py")) else "//"
    if again:
        return f"{fault.text} {remark} made whole"
    changed = fault.text.replace("settle", "checked", 1)
    return changed if changed != fault.text else f"{fault.text} {remark} checked"


def _fix_alone(scenario: Scenario, missing: list[Fact], seen: Shown) -> str:
    """As short as it was asked for."""
    answer = json.loads(_answer(scenario, missing, seen))
    kept = {name: answer[name] for name in ("has_fix", "file_changes", "confidence")}
    return json.dumps({"title": "", "root_cause": "", **kept})


def _answer(scenario: Scenario, missing: list[Fact], seen: Shown) -> str:
    cited = [fact for fact in scenario.facts if fact not in missing]
    places = {fact: f"{fact.path}:{seen.number(fact.path, fact.text)}" for fact in cited}
    fault = cited[-1] if cited and not missing else None
    way = " ".join(f"{places[fact]} is where it is {fact.name}." for fact in cited)
    cause = f"{scenario.cause} ({places[fault]})." if fault else NOTHING
    change = {
        "path": fault.path, "action": "edit", "old": fault.text,
        "new": _changed(fault, TURNED_DOWN in seen.told),
        "description": "Make the value what its readers expect, at the place where it is made.",
    } if fault else {}  # fmt: skip
    answer = {
        "title": f"{scenario.error_class.rpartition('.')[2]}: {scenario.cause[:80]}",
        "root_cause": f"{cause} {way} The value is made before it is checked, and every caller "
        "takes it for complete; the error shows only where it is first used.",
        "confidence": "high" if fault else "low",
        "has_fix": bool(fault),
        "file_changes": [change] if change else [],
        "evidence": [
            {
                "path": fact.path, "line": seen.number(fact.path, fact.text), "quote": fact.text,
                "note": f"{fact.name}: seen in the code at this commit", "verified": False,
            }
            for fact in cited
        ],
        "hypotheses": [
            {"statement": scenario.cause, "standing": "confirmed" if fault else "open",
             "because": "the quoted lines show it" if fault else "not all of it was read"},
            {"statement": "The input itself is at fault", "standing": "ruled out",
             "because": "its other readers take the same value without failing"},
        ],
        "suspect_commit": "",
        "tags": ["missing-validation"],
        "learnings": [
            {"fact": f"{fault.symbol} makes the value that fails elsewhere",
             "path": fault.path, "line": seen.number(fault.path, fault.text)}
        ] if fault else [],
        "related_to": [],
        "suggested_next_steps": ["Add a test with the input of the trace"],
    }  # fmt: skip
    return json.dumps(answer)
