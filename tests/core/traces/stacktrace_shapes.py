"""How the tests of stack traces write down what they expect."""

from nightwatch_core.models.error import Trace


def places(trace: Trace) -> list[list[str]]:
    """Places per link, from the reported exception to the root cause."""
    return [[frame.place for frame in link.frames] for link in trace.links]


def errors(trace: Trace) -> list[tuple[str, str]]:
    return [(link.error_class, link.message) for link in trace.links]


def own(trace: Trace) -> list[str]:
    return [frame.place for frame in trace.in_app]


def top(trace: Trace) -> str:
    return trace.top.place if trace.top else ""
