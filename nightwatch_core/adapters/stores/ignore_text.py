"""One rule put into the text of an ignore.yml; everything else stays as it is, to the character.

ruamel.yaml says where the list and its items stand, and writes the new rule.
"""

from io import StringIO

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.pattern import IgnoreRule

_WIDE = 1_000_000  # characters of a line: never folded
_DASH = 2  # columns from a dash to its rule, where there is no other rule to look at


def with_rule(text: str, rule: IgnoreRule) -> str:
    """The text with one rule more, at the end of the list; line ends are those of `text`.

    Raises `GiveUp` where there is no list that a rule could be added to.
    """
    root = _composed(text)
    listed = _list_of(root)
    if listed is None:
        return f"{_ended(text)}{_block(rule, 'ignore:', _DASH, _DASH)}"
    if isinstance(listed, SequenceNode) and listed.flow_style:
        return _into_flow(text, listed, rule)
    if isinstance(listed, SequenceNode):
        at = _after(text, listed)
        dash = listed.start_mark.column
        block = _block(rule, "", dash, listed.value[-1].start_mark.column - dash)
        return f"{_ended(text[:at])}{block}{text[at:]}"
    return _into_nothing(text, root, listed, rule)


def with_bounds(text: str, rule: IgnoreRule) -> str:
    """The text with new values of `expires` and `unless_rate_above` in the rule on `rule.line`.

    Only keys that are there get a value. Raises `GiveUp` where there is no `expires`.
    """
    if rule.expires is None:
        raise GiveUp("a rule that has expired cannot be made to hold for ever: edit its line")
    new = {"expires": rule.expires.isoformat()}
    if rule.unless_rate_above:
        new["unless_rate_above"] = f"{_number(rule.unless_rate_above)}"
    places = [
        (value.start_mark.index, value.end_mark.index, new[key.value])
        for key, value in _on_line(text, rule.line)
        if key.value in new and _is_plain(value)
    ]
    if not places:
        raise GiveUp("the rule that has expired is not where it was: try again")
    for begin, end, value in sorted(places, reverse=True):
        text = f"{text[:begin]}{value}{text[end:]}"
    return text


def _on_line(text: str, number: int) -> list[tuple[Node, Node]]:
    listed = _list_of(_composed(text))
    items: list[Node] = listed.value if isinstance(listed, SequenceNode) else []
    mappings = (item for item in items if isinstance(item, MappingNode))
    return next((item.value for item in mappings if item.start_mark.line + 1 == number), [])


def snippet(rule: IgnoreRule) -> str:
    """The rule as YAML, for people to paste."""
    return _block(rule, "", 0, _DASH)


def _composed(text: str) -> Node | None:
    try:
        root: Node | None = YAML(typ="rt", pure=True).compose(text)
    except (YAMLError, ValueError, RecursionError) as error:
        raise GiveUp(f"it is no YAML: {' '.join(str(error).split())[:200]}") from error
    return root


def _list_of(root: Node | None) -> Node | None:
    """The list, or what stands in its place; None where nothing does."""
    if not isinstance(root, MappingNode):
        return None if root is None or _is_absent(root) else root
    return next((value for key, value in root.value if key.value == "ignore"), None)


def _after(text: str, listed: SequenceNode) -> int:
    """Where the line after a block list begins, comments that belong to its last rule included."""
    last = _last_leaf(listed)
    at: int = last.end_mark.index
    if last.end_mark.column:
        at = _next_line(text, at)
    column: int = listed.start_mark.column
    while True:
        line = text[at : _next_line(text, at)]
        indent = len(line) - len(line.lstrip(" "))
        if not line.lstrip(" ").startswith("#") or indent <= column:
            return at
        at += len(line)


def _next_line(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _last_leaf(node: Node) -> Node:
    """The last thing that is written; a key where its value is left out."""
    if getattr(node, "flow_style", None) or isinstance(node, ScalarNode) or not node.value:
        return node
    if isinstance(node, MappingNode):
        key, value = node.value[-1]
        return key if _is_absent(value) else _last_leaf(value)
    return _last_leaf(node.value[-1])


def _is_absent(node: Node) -> bool:
    return isinstance(node, ScalarNode) and not node.value and str(node.tag).endswith(":null")


def _is_plain(node: Node) -> bool:
    return isinstance(node, ScalarNode) and not _is_absent(node) and node.style not in ("|", ">")


def _into_flow(text: str, listed: SequenceNode, rule: IgnoreRule) -> str:
    begins = listed.start_mark.index + 1
    at = listed.value[-1].end_mark.index if listed.value else begins
    comma = ", " if listed.value else ""
    return f"{text[:at]}{comma}{_written(rule, flow=True).strip()}{text[at:]}"


def _into_nothing(text: str, root: Node | None, listed: Node, rule: IgnoreRule) -> str:
    """Below `ignore:` without a value."""
    if not isinstance(root, MappingNode) or not _is_absent(listed):
        raise GiveUp("there is no list of rules below `ignore:`")
    if root.flow_style:
        raise GiveUp("`ignore` has no list: write `ignore:` on a line of its own")
    key = next(key for key, _ in root.value if key.value == "ignore")
    at = _next_line(text, key.end_mark.index)
    return f"{_ended(text[:at])}{_block(rule, '', _DASH, _DASH)}{text[at:]}"


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _block(rule: IgnoreRule, head: str, dash: int, to_rule: int) -> str:
    """Lines of a rule below `head`; `dash` is the column of its dash, `to_rule` what follows."""
    first, *rest = _written(rule, flow=False).rstrip("\n").split("\n")
    lines = [f"{' ' * dash}-{' ' * (to_rule - 1)}{first}"]
    lines += [f"{' ' * (dash + to_rule)}{line}" for line in rest]
    return "".join(f"{line}\n" for line in ([head] if head else []) + lines)


def _written(rule: IgnoreRule, *, flow: bool) -> str:
    values = CommentedMap(pattern=DoubleQuotedScalarString(rule.pattern))
    values["match"], values["field"] = rule.match, rule.field
    if rule.reason:
        values["reason"] = DoubleQuotedScalarString(rule.reason)
    if rule.expires:
        values["expires"] = rule.expires
    if rule.unless_rate_above:
        values["unless_rate_above"] = _number(rule.unless_rate_above)
    if flow:
        values.fa.set_flow_style()
    writer, out = YAML(typ="rt", pure=True), StringIO()
    writer.width = _WIDE
    writer.dump(values, out)
    return out.getvalue()


def _number(rate: float) -> int | float:
    return int(rate) if rate == int(rate) else rate
