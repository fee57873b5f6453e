"""Parameters made from `NightOptions`: one list for flows and commands."""

import inspect
from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeVar

from pydantic.fields import FieldInfo

from nightwatch_core.models.options import NightOptions

F = TypeVar("F", bound=Callable[..., Any])


OPTIONS = NightOptions.model_fields


def takes_options(function: F, names: Iterable[str] = OPTIONS) -> F:
    """Replace a function's `**choices` by one optional parameter for each of these options.

    A parameter left at None takes its value from the settings.
    """
    spell_out_choices(function, _parameter, names)
    options = "\n".join(f"    {name}: {OPTIONS[name].description}" for name in names)
    own_doc = inspect.cleandoc(function.__doc__ or "")
    arguments = "" if "Args:" in own_doc else "\n\nArgs:"
    function.__doc__ = f"{own_doc}{arguments}\n{options}\n"
    return function


def _parameter(_name: str, field: FieldInfo) -> Any:
    """Return an option's type, bounded as the option is."""
    kind: Any = field.annotation
    return (Annotated[kind, *field.metadata] if field.metadata else kind) | None


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
