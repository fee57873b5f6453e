"""Parameters made from `NightOptions`: one list for flows and commands."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import Field, WithJsonSchema
from pydantic.fields import FieldInfo
from pydantic_core import MISSING
from typing_extensions import TypedDict

from nightwatch_core.models.options import SECTION_OF, NightOptions

F = TypeVar("F", bound=Callable[..., Any])

_FIELDS = NightOptions.model_fields
OPTIONS = {name: _FIELDS[name] for name in SECTION_OF if name in _FIELDS}
"""The options in the order of their sections."""


FIRST = ("errors", "repo", "publish", "model", "max_errors", "cost_per_night", "dry_run", "force")
"""The options that a form asks for itself; the others are in groups."""
GROUP = "more_"


def takes_options(function: F, names: Iterable[str] = OPTIONS) -> F:
    """Replace a function's `**choices` by one optional parameter for each of these options.

    A parameter left at None takes its value from the settings. Options may come in the groups of a
    form, too.
    """

    @wraps(function)
    def ungroup(*values: Any, **choices: Any) -> Any:
        return function(*values, **ungrouped(choices))

    spell_out_choices(ungroup, _parameter, names)
    if names is OPTIONS:
        signature = inspect.signature(ungroup)
        groups = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind | None
            )
            for name, kind in _groups().items()
        ]
        parameters = [*signature.parameters.values(), *groups]
        ungroup.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        ungroup.__annotations__ |= {group.name: group.annotation for group in groups}
    own_doc = inspect.cleandoc(function.__doc__ or "")
    unsaid = [name for name in names if f"\n    {name}: " not in own_doc]
    options = "\n".join(f"    {name}: {described(OPTIONS[name])}" for name in unsaid)
    arguments = "" if "Args:" in own_doc else "\n\nArgs:"
    ungroup.__doc__ = f"{own_doc}{arguments}\n{options}\n"
    return cast(F, ungroup)


def with_short_form(flow: F) -> F:
    """Give a flow's deployment a form that people can take in: a few options, then groups.

    Prefect makes the form from the signature of the flow, and binds values by that of its function,
    which takes every option under its own name as well.
    """
    signature = inspect.signature(flow)
    asked = {name: p for name, p in signature.parameters.items() if name not in OPTIONS}
    own = [name for name, p in asked.items() if p.annotation is not bool and GROUP not in name]
    shown = dict.fromkeys((*own, *FIRST, *asked))
    fields = [_form_field(signature.parameters[n]) for n in shown if n in signature.parameters]
    flow.__signature__ = signature.replace(parameters=fields)  # type: ignore[attr-defined]
    return flow


def ungrouped(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that came in groups, and those that came by themselves, which win.

    >>> ungrouped({"more_proof": {"gate": False}, "model": "rules", "more_code": None})
    {'gate': False, 'model': 'rules'}
    """
    groups = [choices[name] or {} for name in choices if name.startswith(GROUP)]
    own = {name: value for name, value in choices.items() if not name.startswith(GROUP)}
    given = {name: value for group in groups for name, value in group.items()}
    return given | {
        name: value for name, value in own.items() if name not in given or value is not None
    }


def _groups() -> dict[str, Any]:
    """Return a dictionary's type for the options of each section that a form does not ask for."""
    groups: dict[str, dict[str, Any]] = {}
    for name, field in OPTIONS.items():
        if name not in FIRST:
            described_field = Field(description=described(field))
            kind: Any = Annotated[_form_choices(field), *field.metadata, described_field]
            groups.setdefault(f"{GROUP}{SECTION_OF[name]}", {})[name] = kind
    make: Any = TypedDict
    return {name: make(name, fields, total=False) for name, fields in groups.items()}


def described(field: FieldInfo, otherwise: object = None) -> str:
    """Return an option's description and its default, which may be another one for a command."""
    default = otherwise or field.default
    shown = "" if default in ("", None) else f" [default: {str(default).lower()}]"
    return f"{field.description}{shown}"


def chosen_from(field: FieldInfo) -> Any:
    """Return an option's type without what means that nothing was chosen."""
    kind: Any = field.annotation
    if get_origin(kind) is Literal:
        return Literal[tuple(choice for choice in get_args(kind) if choice)]
    return without_none(kind)


def without_none(kind: Any) -> Any:
    """Return an optional type as if it were none: beside None a form shows no field for it."""
    return get_args(kind)[0] if get_origin(kind) in (Union, UnionType) else kind


def _parameter(_name: str, field: FieldInfo) -> Any:
    """Return an option's type, bounded as the option is."""
    kind = chosen_from(field)
    return (Annotated[kind, *field.metadata] if field.metadata else kind) | None


def _form_choices(field: FieldInfo) -> Any:
    """Return an option's type; a switch is a choice of two, for a form would send it as off."""
    kind = chosen_from(field)
    return Annotated[bool, WithJsonSchema({"enum": [True, False]})] if kind is bool else kind


def _form_field(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter without None: a form would show no field for it, and send it as null."""
    kind, default = without_none(parameter.annotation), parameter.default
    if field := OPTIONS.get(parameter.name):
        kind = Annotated[_form_choices(field), *field.metadata, Field()]
    return parameter.replace(
        kind=inspect.Parameter.KEYWORD_ONLY,
        annotation=kind,
        default=MISSING if default is None else default,
    )


def spell_out_choices(
    function: Callable[..., Any],
    annotation: Callable[[str, FieldInfo], Any],
    names: Iterable[str] = OPTIONS,
) -> None:
    """Give a function's signature a parameter for each option; one of its own wins."""
    signature = inspect.signature(function)
    own = {p.name: p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD}
    options = {
        name: inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=annotation(name, OPTIONS[name]),
        )
        for name in names
    }
    parameters = own | {name: p for name, p in options.items() if name not in own}
    function.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=list(parameters.values())
    )
    function.__annotations__ = {name: p.annotation for name, p in parameters.items()}
