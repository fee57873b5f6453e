"""A first look in sentences: each says one thing that was understood, or why something was not."""

from collections import Counter
from collections.abc import Iterable

from nightwatch_core.code.record_fit import MISFIT
from nightwatch_core.first_look.limits import REASON, SHOWN_GAPS, SHOWN_REJECTS, WHERE
from nightwatch_core.models.code import Commit
from nightwatch_core.models.error import RejectedRecord
from nightwatch_core.models.file_contents import FileContents
from nightwatch_core.models.first_look import Estimate, FirstLook, FoundRelease, GlancedError
from nightwatch_core.text.escaping import line
from nightwatch_core.text.units import first, moment, money, plural

LANGUAGES = {
    "csharp": "C#",
    "go": "Go",
    "javascript": "JavaScript",
    "php": "PHP",
}  # those that one does not write with a capital alone


def content_lines(contents: FileContents) -> tuple[str, ...]:
    """Say what the files hold: records, shapes, span."""
    counted = f"{plural(contents.records, 'record')} of errors" if contents.records else "No error"
    others = f", {contents.harmless:,} that are none" if contents.harmless else ""
    named = ((name, count) for name, count in contents.shapes if name and count)
    shapes = tuple(f"{count:,} × {line(name)}" for name, count in named)
    return (f"{counted}{others}{_span(contents)}", *shapes)


def _span(contents: FileContents) -> str:
    if not contents.records:
        return ""
    if contents.window is None:
        return ", without times"
    since, until = moment(contents.window.since), moment(contents.window.until)
    return f", {since}" if since == until else f", {since} to {until}"


def unread_lines(contents: FileContents) -> tuple[str, ...]:
    """Say what could not be read and why; equal reasons once, with a place to look at."""
    reasons = _by_reason(contents.rejects)
    shown = first(reasons, SHOWN_REJECTS)
    lines = [f"{plural(count, 'record')}: {why} ({where})" for why, count, where in shown.items]
    lines += [f"and {shown.more:,} more reasons"] if shown.more else []
    unlisted = contents.rejected - sum(one.count for one in contents.rejects)
    lines += [f"{plural(unlisted, 'more record')} like these"] if unlisted > 0 else []
    lines += [f"{count:,} {line(reason, REASON)}" for reason, count in contents.left_out]
    gaps = first(contents.missing, SHOWN_GAPS)
    lines += [line(gap, REASON) for gap in gaps.items]
    return (*lines, *([f"and {gaps.more:,} more"] if gaps.more else []))


def help_lines(contents: FileContents) -> tuple[str, ...]:
    """Say what can be read, where no error was."""
    if contents.records:
        return ()
    return (
        "Logs of any kind, for the stack traces in them (C#, Elixir, Go, Java and Kotlin, "
        "JavaScript, PHP, Python, Ruby, Rust); JSON, JSON Lines and tables whose records name "
        "an error's class or hold its stack trace; exports of error trackers.",
        "Each shape, and what it is told by: nightwatch_core/adapters/files/README.md",
    )


def _by_reason(rejects: Iterable[RejectedRecord]) -> list[tuple[str, int, str]]:
    by_reason: dict[str, list[RejectedRecord]] = {}
    for one in rejects:
        by_reason.setdefault(line(one.reason, REASON), []).append(one)
    rows = [
        (why, sum(one.count for one in alike), line(alike[0].place, REASON))
        for why, alike in by_reason.items()
    ]
    return sorted(rows, key=lambda row: -row[1])


def group_lines(look: FirstLook) -> tuple[str, ...]:
    """Say how many error groups there are, and of which languages."""
    traced = len(look.errors)
    languages = Counter(LANGUAGES.get(e.language, e.language.title()) for e in look.errors)
    named = ", ".join(f"{name or 'no stack trace'} {n}" for name, n in languages.most_common())
    best = f"the best ranked {traced} of them: " if traced < look.groups else ""
    summary = f"{plural(look.groups, 'error group')} ({best}{named})" if traced else "No error"
    causes = f", {plural(look.cases, 'case')} to analyse" if look.cases else ""
    return (f"{summary}{causes}", *map(_release_line, look.releases))


def _release_line(release: FoundRelease) -> str:
    name = f"release {line(release.name, 80)}"
    return f"{name} is {_commit(release.commit)}" if release.commit else name


def checkout_lines(look: FirstLook) -> tuple[str, ...]:
    """Say which frames exist in the checkout, and at which commits."""
    if look.base is None:
        return ("No checkout was named: with --repo it says which lines of yours these are.",)
    placed, own = (sum(getattr(e, name) for e in look.errors) for name in ("placed", "own"))
    at = {error.commit.sha: error.commit for error in look.errors if error.commit}
    commits = " and ".join(map(_commit, list(at.values())[:2]))
    more = f" and {plural(len(at) - 2, 'other commit')}" if len(at) > 2 else ""
    lines = [f"Frames of your code that stand in {commits}{more}: {placed:,} of {own:,}"]
    if not own:
        lines = ["No frame looks like your own code: name its folders with --app-prefixes"]
    elif not placed:
        lines.append(
            f"Is {line(look.base.repository, 80)} the application these errors come from? Name "
            "where it lies on the servers with --path-prefixes, or in the checkout with --app-root"
        )
    guessed = [one for one in at.values() if one.because and not one.is_named]
    if guessed:
        lines.append(f"{guessed[0].sha[:10]} is {line(guessed[0].because, REASON)}")
    unfit = [one for one in look.errors if one.misfit]
    if unfit:
        why = line(unfit[0].misfit.removeprefix(MISFIT), REASON)
        count = plural(len(unfit), "record is", "records are")
        lines.append(f"{count} of other code than this: {why}; --commit names the right one")
    unnamed = [one.name for one in look.releases if one.commit is None]
    if unnamed:
        named = ", ".join(line(name, 40) for name in unnamed[:3])
        lines.append(f"No tag or commit in the checkout: {named}; git fetch --tags may bring it")
    return tuple(lines)


def _commit(commit: Commit) -> str:
    day = f", {commit.at:%Y-%m-%d}" if commit.at else ""
    return f"{commit.sha[:10]}{day}"


def place_of(error: GlancedError) -> str:
    """Say where an error leads, and what is known about the line there; long paths lose folders."""
    place = _place_of(error)
    return place if len(place) <= WHERE else f"…{place[1 - WHERE :]}"


def _place_of(error: GlancedError) -> str:
    if error.top is None:
        return "no frame of your own" if error.frames else "no stack trace"
    if error.commit is None:
        return error.top.place
    if not error.top.repo_path:
        return f"{error.top.place} (not in the checkout)"
    is_other = error.misfit and error.top.fit == "unknown"
    return error.top.place + (_OTHER_CODE if is_other else _FITS[error.top.fit])


_OTHER_CODE = " (of other code than this)"
_FITS = {
    "same": " ✓",
    "moved": " ✓ (moved)",
    "differs": " (another line stands there)",
    "unknown": "",
}


def cost_lines(estimate: Estimate | None) -> tuple[str, ...]:
    """Say what a night over it would cost, without and with a language model."""
    if estimate is None or not estimate.errors:
        return ()
    low, high = estimate.least.cost, estimate.most.cost
    dollars = "at a price nobody knows" if None in (low, high) else f"{money(low)} to {money(high)}"
    tokens = f"{estimate.least.new_tokens:,} to {estimate.most.new_tokens:,} new tokens"
    cap = f"never more than {money(estimate.cap)} (--cost-per-night)" if estimate.cap else "no cap"
    return (
        "Without a language model: nothing, and nothing leaves this machine.",
        f"With {line(estimate.model, 60)}, {plural(estimate.errors, 'error')} analysed: about "
        f"{dollars}, {tokens}, {cap}. Measured on {estimate.measured} real bugs; what the model "
        "thinks comes on top.",
    )
