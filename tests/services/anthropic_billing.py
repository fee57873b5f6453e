"""The stand-in's cache and its bills, to the token."""

import hashlib
import json

from services.anthropic_context import tokens
from services.anthropic_models import SMALLEST_CACHED

LOOK_BACK = 20  # blocks before a marker in which an entry is found
KINDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class Cache:
    """Prefixes that were marked; the next request that begins so reads the longest one.

    What is written goes into `fresh`, what is read comes from `known`: the same set, unless told.
    """

    def __init__(self, count=tokens):
        self._count, self.known = count, set()
        self.fresh = self.known

    def usage(self, body, output):
        """Tokens of a request and its answer; what was marked before is read, the rest written."""
        prefixes, marked = self._prefixes(body)
        total = prefixes[-1][1]
        found = {
            size
            for end in marked
            for name, size in prefixes[max(end - LOOK_BACK, 0) : end + 1]
            if name in self.known
        }
        read = max(found, default=0)
        smallest = SMALLEST_CACHED.get(body["model"], SMALLEST_CACHED[""])
        kept = [prefixes[end] for end in marked if prefixes[end][1] >= smallest]
        self.fresh |= {name for name, _ in kept}
        written = max(max((size for _, size in kept), default=0) - read, 0)
        return {
            "input_tokens": total - read - written,
            "output_tokens": output,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0,
            },
        }  # fmt: skip

    def _prefixes(self, body):
        """Every prefix with its size, by block, and the numbers of those that end at a marker."""
        output = body.get("output_config", {})
        head = [body["model"], body.get("tools"), body.get("system"), output.get("format")]
        choices = [body.get("tool_choice"), body.get("thinking"), output.get("effort")]
        name = digest(unmarked(head))
        found = [(name, self._count(unmarked(head[1:])))]
        marked = [0] if _is_marked(body.get("system")) else []
        name = digest([name, choices])
        for message in body["messages"]:
            said = {key: value for key, value in message.items() if key != "content"}
            name = digest([name, said])
            for block in blocks_of(message):
                name = digest([name, unmarked(block)])
                found.append((name, found[-1][1] + self._count(unmarked(block))))
                marked += [len(found) - 1] if _is_marked(block) else []
        return found, [*marked, *([len(found) - 1] if body.get("cache_control") else [])]


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


def blocks_of(message):
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _is_marked(value):
    blocks = value if isinstance(value, list) else [value]
    return any(isinstance(block, dict) and "cache_control" in block for block in blocks)
