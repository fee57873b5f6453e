"""Which CI of the repository would run a branch of ours, secrets and all, before it was read."""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

import yaml

from nightwatch_core.text.plain_text import one_line

_BRANCH = "nightwatch/0123456789ab"
_FOLDER = ".github/workflows/"
_MOST_FILES, _MOST_CHARACTERS = 40, 64 * 1024
_EVENTS = ("push", "pull_request", "pull_request_target", "create")
_OTHERS = (
    ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", ".buildkite/pipeline.yml",
    "azure-pipelines.yml", "bitbucket-pipelines.yml", ".travis.yml", ".drone.yml", "appveyor.yml",
    ".cirrus.yml", ".woodpecker.yml", ".semaphore/semaphore.yml", "codefresh.yml", "buildspec.yml",
    "cloudbuild.yaml", ".teamcity/settings.kts",
)  # fmt: skip
HOW = (
    "give them `branches-ignore: ['nightwatch/**']`, put secrets into environments that need an "
    "approval, or set NIGHTWATCH_DRAFTS=patch"
)


def ci_of_branches(
    paths: Iterable[str], read: Callable[[str], str | None], base: str, *, pushed: bool
) -> str:
    """Say which CI our drafts would start, and how to withhold secrets; raises as `read`.

    `pushed` is whether we push branches; on this machine somebody else does.
    """
    names = ci_started(paths, read, base)
    if not names:
        return "no CI is seen that a branch of ours would start"
    shown = one_line(", ".join(names))[:500]
    when = "once it is pushed" if pushed else "once somebody pushes it"
    return f"Warning: {shown} may run a draft {when}, with secrets, before it was read: {HOW}"


def ci_started(
    paths: Iterable[str], read: Callable[[str], str | None], base: str
) -> tuple[str, ...]:
    """Name what a branch of ours would start, as far as files of the repository tell."""
    there = frozenset(paths)
    flows = sorted(p for p in there if p.startswith(_FOLDER) and p.endswith((".yml", ".yaml")))
    runs = (
        f"{path.removeprefix(_FOLDER)} ({', '.join(events)})"
        for path in flows[:_MOST_FILES]
        if (events := starting_events(read(path) or "", base))
    )
    return (*runs, *(one for one in _OTHERS if one in there))


def starting_events(workflow: str, base: str) -> tuple[str, ...]:
    """Return the events by which a workflow of GitHub runs a draft of ours for branch `base`.

    All where it cannot be read: then nobody can tell that it does not.

    >>> starting_events("on: [push, release]", "main")
    ('push',)
    >>> starting_events("on:\\n  push:\\n    branches-ignore: ['nightwatch/**']", "main")
    ()
    """
    try:
        root = yaml.compose(workflow[:_MOST_CHARACTERS], Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return _EVENTS
    events = _entry(root, "on")
    if not isinstance(events, yaml.MappingNode):
        named = _texts(events)
        return tuple(one for one in _EVENTS if one in named)
    return tuple(one for one in _EVENTS if _starts(events, one, base))


def _starts(events: yaml.MappingNode, event: str, base: str) -> bool:
    if event not in (key.value for key, _ in events.value):
        return False
    about = _entry(events, event)
    branch = base if event.startswith("pull_request") else _BRANCH
    wanted, ignored = _texts(_entry(about, "branches")), _texts(_entry(about, "branches-ignore"))
    only_tags = not wanted and not ignored and _entry(about, "tags") is not None
    if event == "push" and only_tags:
        return False
    return not _last_match(ignored, branch) and (not wanted or _last_match(wanted, branch))


def _last_match(patterns: tuple[str, ...], branch: str) -> bool:
    """Whether the last pattern that fits the branch takes it; `!` in front gives it back."""
    fits = False
    for pattern in patterns:
        if fnmatchcase(branch, pattern.removeprefix("!")) and _deep_enough(pattern, branch):
            fits = not pattern.startswith("!")
    return fits


def _deep_enough(pattern: str, branch: str) -> bool:
    """One star stays within a part of a name, as GitHub has it."""
    return "**" in pattern or pattern.count("/") == branch.count("/")


def _entry(node: yaml.Node | None, name: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for key, value in pairs if key.value == name), None)


def _texts(node: yaml.Node | None) -> tuple[str, ...]:
    if isinstance(node, yaml.ScalarNode):
        return (str(node.value),)
    items = node.value if isinstance(node, yaml.SequenceNode) else ()
    return tuple(str(one.value) for one in items if isinstance(one, yaml.ScalarNode))
