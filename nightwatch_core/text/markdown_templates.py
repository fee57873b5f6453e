"""Markdown templates in which every value has to pass a filter that escapes it."""

from collections.abc import Callable, Mapping

from jinja2 import BaseLoader, Environment, StrictUndefined
from markupsafe import Markup


def markdown_templates(
    loader: BaseLoader, filters: Mapping[str, Callable[..., str]]
) -> Environment:
    """Build an environment with these filters; a value that passed none raises `TypeError`."""
    environment = Environment(
        loader=loader,
        autoescape=True,
        finalize=_filtered,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {name: _escaping(filter) for name, filter in filters.items()}
    return environment


def _filtered(value: object) -> object:
    if not isinstance(value, Markup | int):
        raise TypeError("a template shows a value that passed no filter")
    return value


def _escaping(filter: Callable[..., str]) -> Callable[..., Markup]:
    return lambda *given, **named: Markup(filter(*given, **named))
