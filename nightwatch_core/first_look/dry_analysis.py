"""Look at files of errors as a night would, without analysing anything."""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from nightwatch_core.analysis.forecast import CHEAPEST, DEAREST, MEASURED_BUGS, Price
from nightwatch_core.code.failed_commit import (
    Repository,
    deployments,
    failed_commit,
    place_traces,
    sighting_of,
)
from nightwatch_core.code.record_fit import MISFIT, misfit
from nightwatch_core.errors import GiveUp
from nightwatch_core.intake.cases import cases
from nightwatch_core.intake.selection import select
from nightwatch_core.models.answer import Estimate, FirstLook, FoundRelease, GlancedError, Usage
from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import Case, ErrorGroup, FileContents, RejectedRecord, Trace
from nightwatch_core.models.knowledge import IgnoreRules
from nightwatch_core.models.options import NightOptions
from nightwatch_core.ports import FileSource
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import moment, money, plural

# What a night would cost with a language model, from what real bugs took.


def estimate(cases: int, options: NightOptions, model: str, price: Price) -> Estimate:
    """Return the cost of `cases` new errors, of which a night takes its first few."""
    errors = min(cases, options.max_errors or 5)
    least, most = (sum([price(model, usage)] * errors, Usage()) for usage in (CHEAPEST, DEAREST))
    return Estimate(
        model=model,
        errors=errors,
        least=least,
        most=most,
        measured=MEASURED_BUGS,
        cap=options.cost_per_night or None,
    )


REASON = 200  # characters of a reason


def first_look(
    source: FileSource,
    repository: Repository | None,
    now: datetime,
    lookback: timedelta | None,
    cost_of: Callable[[int], Estimate],
) -> FirstLook:
    """Read the files and place the traces of the 60 best ranked groups; `cost_of` takes cases.

    Raises `StopTheNight` where a file or the checkout cannot be read at all.
    """
    contents = source.contents()
    if not contents.records:
        return FirstLook(contents=contents)
    window = source.window(lookback, now)
    groups = source.error_groups(window).groups
    named = [{name for name in (group.release, *group.releases) if name} for group in groups]
    releases = frozenset[str]().union(*named)
    chosen = _chosen(repository) if repository else None
    base = repository.host.head() if repository else None
    deployed = deployments(repository.host.releases(), (), releases) if repository else ()
    glanced, traced = [], []
    for group in select(groups, IgnoreRules(), 60).kept:
        traces, commit = source.traces(group, 1), chosen
        if repository and base:
            sighting = sighting_of(group, traces, deployed)
            commit = chosen or failed_commit(sighting, repository.host)
            traces, commit = place_traces(traces, group, commit, base, repository)
        newest = next(iter(traces), None)
        glanced.append(_glanced(group, newest, commit, repository))
        traced.append((group, newest))
    made = len(cases(tuple(traced)))
    counts = Counter(name for names in named for name in sorted(names))
    most = sorted(sorted(counts), key=lambda name: -counts[name])[:8]
    return FirstLook(
        contents=contents,
        groups=len(groups),
        errors=tuple(glanced),
        cases=made,
        releases=tuple(
            FoundRelease(name=name, commit=repository.host.commit_of(name) if repository else None)
            for name in most
        ),
        base=base,
        estimate=cost_of(made),
    )


def _chosen(repository: Repository) -> Commit | None:
    name = repository.options.commit
    commit = repository.host.commit_of(name, branches=True) if name else None
    if name and commit is None:
        raise GiveUp(f"{ascii(name[:80])} is not a tag, branch or commit of the checkout")
    return commit


def _glanced(
    group: ErrorGroup, trace: Trace | None, commit: Commit | None, repository: Repository | None
) -> GlancedError:
    if trace is None:
        return GlancedError(group=group, commit=commit)
    case = Case(leader=group, trace=trace, commit=commit)
    read = repository.tree(commit).read_file if repository and commit else None
    return GlancedError(
        group=group,
        language=trace.language,
        top=trace.top,
        frames=len(trace.frames),
        own=len(trace.in_app),
        placed=sum(bool(frame.repo_path) for frame in trace.frames),
        commit=commit,
        misfit=misfit(case, read) if read else "",
    )


# Languages that are not written with a capital alone.
LANGUAGES = {"csharp": "C#", "go": "Go", "javascript": "JavaScript", "php": "PHP"}


def content_lines(contents: FileContents) -> tuple[str, ...]:
    """Describe the contents of the files: records, formats, time span."""
    return _texts("contents", held=contents)


def unread_lines(contents: FileContents) -> tuple[str, ...]:
    """List what could not be read; equal reasons once, with a place to look at."""
    by_reason: dict[str, list[RejectedRecord]] = {}
    for reject in contents.rejects:
        by_reason.setdefault(line(reject.reason, REASON), []).append(reject)
    reasons = [
        (reason, sum(item.count for item in alike), line(alike[0].place, REASON))
        for reason, alike in by_reason.items()
    ]
    reasons.sort(key=lambda item: -item[1])
    return _texts("unread", held=contents, reasons=reasons)


def group_lines(look: FirstLook) -> tuple[str, ...]:
    """Count the error groups by language, and name their releases."""
    named = Counter(LANGUAGES.get(e.language, e.language.title()) for e in look.errors)
    languages = [(name or "no stack trace", count) for name, count in named.most_common()]
    return _texts("groups", look=look, languages=languages)


def checkout_lines(look: FirstLook) -> tuple[str, ...]:
    """Say which frames exist in the checkout, and at which commits."""
    return _texts(
        "checkout",
        look=look,
        own=sum(error.own for error in look.errors),
        placed=sum(error.placed for error in look.errors),
        commits=list({e.commit.sha: e.commit for e in look.errors if e.commit}.values()),
        misfits=[e.misfit.removeprefix(MISFIT) for e in look.errors if e.misfit],
    )


def cost_lines(estimate: Estimate | None) -> tuple[str, ...]:
    """Say what a night over it would cost, without and with a language model."""
    return _texts("cost", estimate=estimate) if estimate and estimate.errors else ()


def _texts(name: str, **values: object) -> tuple[str, ...]:
    """Return the lines of a macro of `templates/look.txt.j2`, without the empty ones."""
    macro = getattr(_environment().get_template("look.txt.j2").module, name)
    return tuple(filter(None, (row.strip() for row in macro(**values).split("\n"))))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("nightwatch_core.first_look"),
        autoescape=False,  # noqa: S701 - plain text for a terminal
        undefined=StrictUndefined,
    )
    filters = {"line": line, "moment": moment, "money": money, "plural": plural}
    environment.filters |= {**filters, "number": lambda count: f"{count:,}"}
    return environment


def place_of(error: GlancedError) -> str:
    """Name the place of an error and the state of its line; long paths lose folders."""
    top = error.top
    if top is None:
        return "no frame of your own" if error.frames else "no stack trace"
    if error.commit is None:
        place = top.place
    elif not top.repo_path:
        place = f"{top.place} (not in the checkout)"
    elif error.misfit and top.fit == "unknown":
        place = f"{top.place} (of other code than this)"
    else:
        place = top.place + _FITS[top.fit]
    return place if len(place) <= 90 else f"…{place[-89:]}"


def rendered(look: FirstLook) -> Group:
    """Lay the result out for a terminal, in colour and without."""
    blocks: list[tuple[str, Iterable[RenderableType]]] = [
        ("Read", content_lines(look.contents)),
        ("Not read", (Text(text, "yellow") for text in unread_lines(look.contents))),
    ]
    if look.contents.records:
        blocks += [("Errors", (*group_lines(look), _table(look))), ("Code", checkout_lines(look))]
    else:
        blocks.append(("What can be read", _texts("formats")))
    if look.errors:
        blocks.append(("A night over it", cost_lines(look.estimate)))
    shown: list[RenderableType] = []
    for title, rows in blocks:
        if inner := [Text(row) if isinstance(row, str) else row for row in rows]:
            shown.append(Text(title, "bold underline"))
            shown += [Padding(row, (0, 0, 0, 2), expand=False) for row in inner]
            shown.append(Text())
    return Group(*shown)


_FITS = {
    "same": " ✓",
    "moved": " ✓ (moved)",
    "differs": " (another line stands there)",
    "unknown": "",
}


def _table(look: FirstLook) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    has_users = any(error.group.users is not None for error in look.errors)
    for column in ("Times", "Users") if has_users else ("Times",):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("Error", overflow="fold")
    shown = look.errors[:10]
    for error in shown:
        users = "" if error.group.users is None else f"{error.group.users:,}"
        counts = (f"{error.group.occurrences:,}", *([users] if has_users else []))
        words = ": ".join(filter(None, (error.group.error_class, error.group.message)))
        place = Text(line(place_of(error), 90), "dim")
        table.add_row(*counts, Text(line(words, 90)).append("\n").append_text(place))
    if look.groups > len(shown):
        rest = Text(f"and {look.groups - len(shown):,} more", "dim")
        table.add_row(*([""] * (1 + has_users)), rest)
    return table
