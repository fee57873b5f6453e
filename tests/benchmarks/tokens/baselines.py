"""The two designs ours is measured against, as small loops over the same stand-in.

All three have the same model, tools, answer schema and allowance. Where the originals did worse
without it being their point (they asked for whole files instead of edits), they are given ours.

*before*: the error's class, transaction, message and count, and tools; the trace only by a tool;
files as they are, however long; one effort; up to 15 turns; caching of the system prompt only;
errors one after another, a turn's tool calls one after another.

*seed design*: answers as short as ours, the printed trace in the first message; the first 100 lines
of up to five likely files (those of the innermost own frames, mapped to the tree by our code, which
is kinder than the seed's own rule); up to three earlier analyses; the last four findings of the
night; turns and effort by the class; a cache of what was read, which saves time and no token. Its
context editing and compaction start at lengths that are not reached.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import anthropic
from benchmarks.tokens.designs import MODEL, Outcome, case_of, code_of, priors_of
from benchmarks.tokens.service import Service
from benchmarks.tokens.words import Night, Scenario

from nightwatch_core.adapters.claude.features import priced
from nightwatch_core.adapters.claude.request import strict_schema
from nightwatch_core.analysis import agent_specs, tools
from nightwatch_core.analysis.budget import TIERS, tier_of
from nightwatch_core.analysis.previews import preview_text
from nightwatch_core.models.answer import Answer, Usage
from nightwatch_core.models.conversation import ToolCall, ToolResult
from nightwatch_core.models.errors import Case
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.research import Preview
from nightwatch_core.ports import CodeReader

TURNS, PREVIEWS, PREVIEW_LINES, SUMMARIES = 15, 5, 100, 4
MOST = NightOptions().token_budget_per_error
SEED_TURNS = {"auth": 5, "simple": 7, "database": 10, "complex": 15, "other": 10}
TRACE = 4_000  # characters of a printed trace
_WRAP_UP = "Time to conclude: no more tools. Answer now, in the schema, with what you have seen."

RunTool = Callable[[ToolCall], ToolResult]


def before(night: Night, service: Service) -> Sequence[Outcome]:
    """Class and transaction only, files uncut."""
    return _one_after_another(night, service, _told_nothing, cut=False)


def seed(night: Night, service: Service) -> Sequence[Outcome]:
    """Previews, priors and findings, turns and effort by class."""
    return _one_after_another(night, service, _enriched, by_class=True)


def _told_nothing(scenario: Scenario, case: Case, code: CodeReader, told: list[str]) -> str:
    return _asked(scenario)


def _asked(scenario: Scenario) -> str:
    return (
        "Analyze this production error and propose a fix:\n\n"
        f"- Error: {scenario.error_class}\n- Transaction: {scenario.transaction}\n"
        f"- Message: {scenario.message}\n- Occurrences: {scenario.occurrences}\n"
    )


def _trace(scenario: Scenario) -> str:
    return f"\n## Trace\n\n{scenario.raw[:TRACE]}\n"


def _enriched(scenario: Scenario, case: Case, code: CodeReader, told: list[str]) -> str:
    frames = case.trace.in_app if case.trace else ()
    likely = dict.fromkeys(frame.repo_path for frame in frames if frame.repo_path)
    previews = [_first_lines(path, code) for path in list(likely)[:PREVIEWS]]
    priors = [
        f"### Prior Analysis (match: {prior.match.score:.0%})\n- Root cause: "
        f"{prior.lesson.root_cause}\n- Confidence: {prior.lesson.fix_confidence}\n"
        f"- Summary: {prior.summary}"
        for prior in priors_of(scenario)[:3]
    ]
    parts = (
        "\n".join(("## Previously Analyzed Errors", *told[-SUMMARIES:], "", "---")) if told else "",
        _asked(scenario) + _trace(scenario),
        "\n\n".join(("## Prior Knowledge", *priors)) if priors else "",
        "\n\n".join(("## Pre-Fetched Source Files", *previews)) if previews else "",
    )
    return "\n\n".join(part for part in parts if part)


def _first_lines(path: str, code: CodeReader) -> str:
    lines = (code.read_file(path) or "").split("\n")
    end = min(PREVIEW_LINES, len(lines))
    text = "\n".join(lines[:end])
    return preview_text(Preview(path=path, start=1, end=end, text=text, lines=len(lines)))


Opening = Callable[[Scenario, Case, CodeReader, list[str]], str]


def _one_after_another(
    night: Night, service: Service, opening: Opening, by_class: bool = False, cut: bool = True
) -> Sequence[Outcome]:
    code, done, told = code_of(night), [], list[str]()
    client = anthropic.Anthropic(api_key=service.key, base_url=service.url, max_retries=0)
    for scenario in night.scenarios:
        case = case_of(scenario, code, night.app_prefixes)
        name = scenario.error_class
        tier = tier_of(case.model_copy(update={"trace": None}))
        turns = SEED_TURNS[tier] if by_class else TURNS
        effort = TIERS[tier].effort if by_class else "medium"
        first = opening(scenario, case, code, told)
        answer, usage = _talk(client, first, turns, effort, _runner(case, code, cut))
        quotes = tuple(item["quote"] for item in answer.get("evidence", ()))
        cause = answer.get("root_cause", "")
        told.append(
            f"Error #{len(told) + 1}: {name} in {scenario.transaction} — Root cause: "
            f"{cause[:200]}. Files: {_files(answer)}"
        )
        sure = answer.get("confidence", "")
        done.append(Outcome(scenario.key, quotes, cause, usage, confidence=sure))
    return done


def _files(answer: dict[str, Any]) -> str:
    return ", ".join([item["path"] for item in answer.get("file_changes", ())][:3])


def _runner(case: Case, code: CodeReader, cut: bool) -> RunTool:
    """Our tools; where nothing is `cut`, a file is shown as long as it is."""
    traces = (case.trace,) if case.trace else ()

    def run(call: ToolCall) -> ToolResult:
        if call.name == "get_error_traces" and traces:  # no first message of ours shows it above
            call = call.model_copy(update={"arguments": {"number": 1}})
        result = tools.run(call, code, case, traces)
        if cut or result.is_error or call.name != "read_file":
            return result
        return result.model_copy(update={"text": _uncut(code, **call.arguments)})

    return run


def _uncut(code: CodeReader, path: str, start: int = 1, end: int = 10**6) -> str:
    lines = (code.read_file(path) or "").split("\n")[:-1]
    end = min(end, len(lines))
    rows = (f"{n:>5}| {text}" for n, text in enumerate(lines[start - 1 : end], start))
    return "\n".join((f"{path} (lines {start}-{end} of {len(lines)})", *rows))


def _talk(
    client: anthropic.Anthropic, first: str, turns: int, effort: str, run: RunTool
) -> tuple[dict[str, Any], Usage]:
    """Ask, run tools, ask again; the last turn the bounds allow has tools off."""
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": first}]}]
    usage = Usage()
    for turn in range(1, turns + 1):
        last = turn == turns or usage.new_tokens >= MOST * 0.8
        if last:
            messages[-1]["content"].append({"type": "text", "text": _WRAP_UP})
        with client.messages.stream(**_request(messages, effort, off=last)) as stream:
            message = stream.get_final_message()
        usage += _used(message)
        content = [block.to_dict(mode="json") for block in message.content]
        text = "".join(block["text"] for block in content if block["type"] == "text")
        calls = [block for block in content if block["type"] == "tool_use"]
        if not calls:
            return (json.loads(text) if text else {}), usage
        content = [{k: v for k, v in item.items() if k != "parsed_output"} for item in content]
        messages += [
            {"role": "assistant", "content": content},
            {"role": "user", "content": [_result(block, run) for block in calls]},
        ]
    return {}, usage


def _request(messages: list[Any], effort: str, off: bool) -> dict[str, Any]:
    cached = {"type": "ephemeral"}
    request = {
        "model": MODEL,
        "max_tokens": 32_000,
        "system": [{"type": "text", "text": agent_specs.BUILT_IN.prompt, "cache_control": cached}],
        "tools": [
            {"name": item.name, "description": item.description, "input_schema": item.parameters}
            for item in tools.SPECS
        ],
        "messages": messages,
        "thinking": {"type": "adaptive"},
        "output_config": {
            "effort": effort,
            "format": {"type": "json_schema", "schema": strict_schema(Answer.model_json_schema())},
        },
    }
    return {**request, "tool_choice": {"type": "none"}} if off else request


def _result(block: dict[str, Any], run: RunTool) -> dict[str, Any]:
    result = run(ToolCall(id=block["id"], name=block["name"], arguments=block["input"]))
    told = {"type": "tool_result", "tool_use_id": block["id"], "content": result.text or "-"}
    return {**told, "is_error": True} if result.is_error else told


def _used(message: Any) -> Usage:
    counted = message.usage
    return priced(
        MODEL,
        Usage(
            calls=1,
            input_tokens=counted.input_tokens,
            output_tokens=counted.output_tokens,
            cache_write_tokens=counted.cache_creation_input_tokens or 0,
            cache_read_tokens=counted.cache_read_input_tokens or 0,
            cost=None,
        ),
    )
