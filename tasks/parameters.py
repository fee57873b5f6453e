"""Parameters made from `NightOptions`: one list for flows and commands."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from nightwatch_core.models.options import NightOptions

F = TypeVar("F", bound=Callable[..., Any])


def takes_options(function: F) -> F:
    """Replace a function's `**choices` by one optional parameter for every option of a night.

    A parameter left at None takes its value from the settings.
    """
    spell_out_choices(function, option_parameters())
    options = "\n".join(f"    {name}: {text}" for name, text in descriptions().items())
    own_doc = inspect.cleandoc(function.__doc__ or "")
    arguments = "" if "Args:" in own_doc else "\n\nArgs:"
    function.__doc__ = f"{own_doc}{arguments}\n{options}\n"
    return function


def spell_out_choices(function: Callable[..., Any], options: list[inspect.Parameter]) -> None:
    """Give a function's signature parameters for `**choices`; one of its own wins."""
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    names = {parameter.name for parameter in own}
    parameters = [*own, *(option for option in options if option.name not in names)]
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {p.name: p.annotation for p in parameters}


def option_parameters() -> list[inspect.Parameter]:
    """Make a keyword parameter for every option, optional, bounded as the option is."""
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=_optional(field.annotation, field.metadata),
        )
        for name, field in NightOptions.model_fields.items()
    ]


def descriptions() -> dict[str, str]:
    """Return every option's description."""
    return {name: field.description or "" for name, field in NightOptions.model_fields.items()}


def _optional(annotation: Any, metadata: list[Any]) -> Any:
    bounded = Annotated[annotation, *metadata] if metadata else annotation
    return bounded | None
