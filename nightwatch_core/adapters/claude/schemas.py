"""Schemas as the Messages API wants them: of the answer, and of what tools take."""

from collections.abc import Mapping
from typing import Any

from anthropic import transform_schema

from nightwatch_core.adapters.claude.features import Json
from nightwatch_core.adapters.claude.limits import MOST_LEFT_OUT, MOST_STRICT
from nightwatch_core.models.conversation import ToolSpec


def strict_schema(schema: Mapping[str, Any]) -> Json:
    """The schema as the service wants it: closed objects, every field required, no defaults.

    >>> strict_schema({"type": "object", "properties": {"a": {"type": "string", "default": ""}}})
    {'type': 'object', 'properties': {'a': {'type': 'string'}}, 'additionalProperties': False, \
'required': ['a']}
    """
    plain = _without_defaults(schema)
    strict: Json = _all_required(transform_schema(plain))
    return strict


def complete(schema: Mapping[str, Any]) -> Json:
    """The schema with every field required and no defaults, for those who only read it."""
    whole: Json = _all_required(_without_defaults(schema))
    return whole


def tool_params(specs: tuple[ToolSpec, ...], *, strict: bool) -> list[Json]:
    """The tools; `strict` ones always get arguments that fit, where the service can compile them.

    >>> spec = ToolSpec(name="look", description="Look.", parameters={"type": "object"})
    >>> tool_params((spec,), strict=False)[0]["input_schema"]
    {'type': 'object'}
    """
    plain = [
        {"name": spec.name, "description": spec.description, "input_schema": spec.parameters}
        for spec in specs
    ]
    if not strict or len(plain) > MOST_STRICT:
        return plain
    schemas = [transform_schema(_without_defaults(spec.parameters)) for spec in specs]
    left_out = sum(len(one.get("properties", {})) - len(one.get("required", ())) for one in schemas)
    if left_out > MOST_LEFT_OUT:
        return plain
    return [
        {**tool, "input_schema": schema, "strict": True}
        for tool, schema in zip(plain, schemas, strict=True)
    ]


def _without_defaults(schema: Any) -> Any:
    """The schema without defaults and titles; properties that are called so stay."""
    if isinstance(schema, list):
        return [_without_defaults(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        name: {key: _without_defaults(one) for key, one in value.items()}
        if name in ("properties", "$defs")
        else _without_defaults(value)
        for name, value in schema.items()
        if not (name == "default" or (name == "title" and isinstance(value, str)))
    }


def _all_required(schema: Any) -> Any:
    """The same with every property of every object required."""
    if isinstance(schema, list):
        return [_all_required(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    inner = {name: _all_required(value) for name, value in schema.items()}
    if isinstance(inner.get("properties"), dict) and inner.get("type") == "object":
        inner["required"] = list(inner["properties"])
    return inner
