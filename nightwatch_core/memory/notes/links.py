"""Links between documents: what one names as related, and what lies in a task's own directory."""

import re
from collections.abc import Iterable, Mapping, Sequence

from nightwatch_core.models.knowledge import TaskFile

LINKED = 0.5  # share of its relevance that a document passes on to those it is linked with
_LINK = re.compile(r"\[[^\[\]]{0,300}\]\(([^()\s]{1,300})\)")  # [text](file)
_WIKI_LINK = re.compile(r"\[\[([^\[\]|]{1,300})(?:\|[^\[\]]{0,300})?\]\]")  # [[file|text]]

Passed = Mapping[str, tuple[float, str]]  # id to the relevance it was passed, and by whom


def passed_on(
    relevant: Mapping[str, float], documents: Mapping[str, TaskFile], about: Iterable[TaskFile] = ()
) -> Passed:
    """What documents get from those they are linked with, the most that any of them passes on.

    `relevant` maps ids to a relevance of their own; links are followed once. What the documents
    names that the search is `about` gets the full share. A task's directory is linked with the
    task, both ways: `auth` and `auth/research`.
    """
    names = _names(documents)
    passed: dict[str, tuple[float, str]] = {}
    subjects = [(one.id, 1.0, one) for one in about]
    own = [(id, relevant[id], documents[id]) for id in sorted(relevant)]
    for id, relevance, document in (*subjects, *own):
        share = LINKED * relevance
        for target in linked_with(document, names):
            if target != id and share > passed.get(target, (0.0, ""))[0]:
                passed[target] = (share, id)
    return passed


def linked_with(document: TaskFile, names: Mapping[str, Sequence[str]]) -> list[str]:
    """The ids of the documents that one names, and of those in its directory or that it lies in."""
    own = _directory(document.id)
    named = [id for each in document.related_tasks for id in _meant(each, names)]
    inside = [id for id in names.get(f"{document.id}/", ()) if id != document.id]
    beside = [*names.get(own, ()), *names.get(f"{own}/", ())] if own else []
    return list(dict.fromkeys((*named, *inside, *beside)))


def plain_name(link: str) -> str:
    """A link as people write one, without what is around the name.

    >>> plain_name("[Search](../tasks/task-a.md#notes)"), plain_name("[[task-b|B]]")
    ('../tasks/task-a.md', 'task-b')
    >>> plain_name("v1:0a1b")
    'v1:0a1b'
    """
    written = _WIKI_LINK.search(link) or _LINK.search(link)
    target = written[1] if written else link
    return target.strip().strip("`'\"<>").partition("#")[0].strip()


def _meant(link: str, names: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The ids a link may mean: as it stands, else by the last parts of its path."""
    name = plain_name(link)
    steps = [step for step in name.removesuffix(".md").split("/") if step not in ("", ".", "..")]
    tails = ("/".join(steps[-count:]) for count in (2, 1) if len(steps) >= count)
    for each in (link, name, *tails):
        if ids := names.get(each) or names.get(f"{each}/"):
            return ids
    return ()


def _names(documents: Mapping[str, TaskFile]) -> Mapping[str, list[str]]:
    """Every name of a document to its id; `auth/` names all documents of that directory."""
    names: dict[str, list[str]] = {}
    for id, document in documents.items():
        for name in {id, document.file} - {""}:
            names.setdefault(name, []).append(id)
        if own := _directory(id):
            names.setdefault(f"{own}/", []).append(id)
    return names


def _directory(id: str) -> str:
    return id.rpartition("/")[0]
