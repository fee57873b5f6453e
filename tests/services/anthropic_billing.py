"""The stand-in's cache and its bills, to the token."""

import hashlib
import json

from services.anthropic_context import tokens
from services.anthropic_models import SMALLEST_CACHED

LOOK_BACK = 20  # blocks before a marker in which an entry is found
KINDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class Cache:
    """Prefixes that were marked; the next request that begins so reads the longest one."""

    def __init__(self):
        self._known = {}

    def usage(self, body, output):
        """Tokens of a request and its answer; what was marked before is read, the rest written."""
        prefixes = _prefixes(body)
        total = prefixes[-1][1]
        marked = _marked(body, len(prefixes))
        read = max((size for n, size in self._found(prefixes, marked)), default=0)
        kept = [prefixes[n] for n in marked if prefixes[n][1] >= _smallest(body["model"])]
        self._known.update((name, size) for name, size, _ in kept)
        written = max(max((size for _, size, _ in kept), default=0) - read, 0)
        return {
            "input_tokens": total - read - written,
            "output_tokens": output,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0,
            },
        }  # fmt: skip

    def _found(self, prefixes, marked):
        """Prefixes that are known and near enough before a marker."""
        for number, (name, size, blocks) in enumerate(prefixes):
            near = any(
                number <= at and (number == at or prefixes[at][2] - blocks <= LOOK_BACK)
                for at in marked
            )
            if near and name in self._known:
                yield number, size


class Bills:
    """Every message the service began to say, as it is billed."""

    def __init__(self):
        self.all = []

    def open(self, message, said):
        """A message begins: so much of it is billed whatever happens."""
        bill = {"usage": dict(said), "context_management": None}
        self.all.append(bill)
        return bill

    def close(self, bill, message):
        bill["usage"] = message["usage"]
        bill["context_management"] = message.get("context_management")

    @property
    def totals(self):
        """Tokens of all bills together, by our words for them."""
        entries = [
            entry
            for bill in self.all
            for entry in (bill["usage"], *bill["usage"].get("iterations", ()))
            if entry.get("type") != "message"
        ]
        summed = {kind: sum(entry[kind] for entry in entries) for kind in KINDS}
        summaries = [entry for entry in entries if entry.get("type") == "compaction"]
        edits = [
            edit
            for bill in self.all
            for edit in (bill["context_management"] or {}).get("applied_edits", ())
        ]
        return {
            "calls": len(self.all),
            "input_tokens": summed["input_tokens"],
            "output_tokens": summed["output_tokens"],
            "cache_read_tokens": summed["cache_read_input_tokens"],
            "cache_write_tokens": summed["cache_creation_input_tokens"],
            "thinking_tokens": sum(
                entry.get("output_tokens_details", {}).get("thinking_tokens", 0)
                for entry in entries
            ),
            "compactions": len(summaries),
            "compaction_tokens": sum(entry[kind] for entry in summaries for kind in KINDS),
            "cleared_tokens": sum(edit["cleared_input_tokens"] for edit in edits),
        }


def unmarked(value):
    """Without cache markers, which may move."""
    if isinstance(value, list):
        return [unmarked(one) for one in value]
    if isinstance(value, dict):
        return {name: unmarked(one) for name, one in value.items() if name != "cache_control"}
    return value


def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def _prefixes(body):
    """Name, tokens and blocks: of prompt and tools, and up to the end of every message."""
    head = [body["model"], body.get("tools"), unmarked(body.get("system"))]
    choices = [body.get("tool_choice"), body.get("thinking"), body.get("output_config")]
    said, blocks = unmarked(body["messages"]), 0
    found = [(digest(head), tokens(head), 0)]
    for end in range(1, len(said) + 1):
        whole = [head, choices, said[:end]]
        content = said[end - 1]["content"]
        blocks += 1 if isinstance(content, str) else len(content)
        found.append((digest(whole), tokens(whole), blocks))
    return found


def _marked(body, count):
    """Numbers of the prefixes that end at a marker; the request's own is at its end."""
    numbers = {0} if "cache_control" in json.dumps(body.get("system")) else set()
    for number, message in enumerate(body["messages"], start=1):
        if "cache_control" in json.dumps(message["content"]):
            numbers.add(number)
    return sorted(numbers | ({count - 1} if body.get("cache_control") else set()))


def _smallest(model):
    return SMALLEST_CACHED.get(model, SMALLEST_CACHED[""])
