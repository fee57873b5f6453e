"""The report as GitHub-flavoured Markdown: complete, and every foreign string escaped or fenced."""

from functools import cache

from jinja2 import Environment
from markupsafe import Markup

from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.finding_parts import NO_CAUSE
from nightwatch_core.publish.issue_text import markdown_environment
from nightwatch_core.report.excerpts import CAUSE, FULL, CodeLine, Limits, code_text
from nightwatch_core.report.view import view
from nightwatch_core.text.escaping import fenced, link, markdown
from nightwatch_core.text.markers import Permalinks

_MOST_CODE = 60_000  # characters of one excerpt


def as_markdown(report: RunReport, limits: Limits = FULL) -> str:
    """Return the whole report; blocks are separated by empty lines."""
    text = _environment().get_template("report.md.j2").render(report=view(report, limits))
    return text.rstrip("\n") + "\n"


@cache
def _environment() -> Environment:
    environment = markdown_environment("nightwatch_core.report")
    environment.globals["no_cause"] = NO_CAUSE
    environment.filters |= {
        "prose": _prose,
        "link": lambda text, address: Markup(link(text, address)),
        "cell": lambda text: Markup(markdown(text, cell=True)),
        "number": lambda count: Markup(f"{count:,}"),
        "excerpt": _excerpt,
        "type": lambda block: type(block).__name__,
    }
    return environment


def _prose(text: str, links: Permalinks | None = None) -> Markup:
    return Markup(markdown(text, CAUSE, address_of=links.code) if links else markdown(text))


def _excerpt(lines: tuple[CodeLine, ...]) -> Markup:
    language = "diff" if any(line.mark for line in lines) else ""
    return Markup(fenced(code_text(lines), language, _MOST_CODE))
