"""Command flags made from `NightOptions`, so that flags, parameters and settings are one list."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer

from nightwatch_core.models.options import NightOptions
from tasks.parameters import spell_out_choices

F = TypeVar("F", bound=Callable[..., Any])

SPELLINGS = {"batch_mode": ("--batch-mode/--no-batch-mode", "--batch")}  # where there are several


def with_option_flags(command: F) -> F:
    """Replace a command's `**choices` by a flag for every option of a night.

    A flag that is not given is None: its value comes from the settings.
    """
    spell_out_choices(command, _flags())
    return command


def _flags() -> list[inspect.Parameter]:
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                field.annotation | None,  # type: ignore[operator]
                typer.Option(
                    *SPELLINGS.get(name, ()),
                    help=_help(field.description, field.default),
                    show_default=False,
                ),
            ],
        )
        for name, field in NightOptions.model_fields.items()
    ]


def _help(description: str | None, default: object) -> str:
    said = "" if default in ("", None) else f" [default: {str(default).lower()}]"
    return f"{description}{said}"
