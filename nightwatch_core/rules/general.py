"""Explains the kinds of failures that are told by their class, with the failing line at hand."""

import re

from nightwatch_core.code.source import masked
from nightwatch_core.rules.context import Context
from nightwatch_core.rules.finding import Finding, Site
from nightwatch_core.rules.kinds import KINDS
from nightwatch_core.rules.symptoms import Symptom

_HOSTS = (  # how messages name the neighbour that failed
    r"https?://([\w.-]{1,100})",
    r"host[=:]\s?'?\"?([\w.-]{1,100})",
    r"(?:connect(?:ion)? to|to host|at host|dial tcp:? (?:lookup )?)\s*\"?([\w.-]{1,100}(?::\d+)?)",
    r"(?:ECONNREFUSED|ETIMEDOUT|ENOTFOUND|ECONNRESET)\s+([\w.:-]{1,100})",
)
_CALL = re.compile(r"((?:[\w@$]+(?:\.|::|->))+[\w?!]+)\s*(?:\(|$| )")


def general(symptom: Symptom, site: Site, context: Context) -> Finding:
    """The finding of the kind's words; explained where the failing line says enough."""
    kind = KINDS.get(symptom.kind, KINDS["unknown"])
    call = _call(site)
    given = f" ({symptom.given} instead of {symptom.expected})" if symptom.expected else ""
    words = {
        "place": site.place or "the code",
        "call": call,
        "who": neighbour(symptom) or (f"the neighbour behind `{call}`" if call else "a neighbour"),
        "relation": f" of `{symptom.relation}`" if symptom.relation else "",
        "types": given,
    }
    return Finding(
        because=(_sentence(kind.because.format(**words)),),
        subject=kind.subject.format(**words),
        tags=kind.tags,
        steps=tuple(step.format(**words) for step in kind.steps),
        explained=kind.explains and site.seen,
    )


def _sentence(text: str) -> str:
    """Starts like a sentence, unless it starts with a place.

    >>> _sentence("the code waits"), _sentence("app/a.py:1 waits")
    ('The code waits', 'app/a.py:1 waits')
    """
    return f"The{text[3:]}" if text.startswith("the ") else text


def neighbour(symptom: Symptom) -> str:
    """The host that a message names; empty where it names none.

    >>> neighbour(Symptom(kind="timeout", said="ReadTimeout: http://pay.example/v1 timed out"))
    'pay.example'
    """
    found = (re.search(pattern, symptom.said, re.IGNORECASE) for pattern in _HOSTS)
    return next((match[1].rstrip(".") for match in found if match), "")


def _call(site: Site) -> str:
    """The call of the failing line that most likely leaves the process."""
    found = _CALL.search(masked(site.text, site.language))
    return found[1] if found else ""
