"""The team's ignore.yml: read as the night reads it, and written when a person accepts a rule."""

from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.document_folder import text_of
from nightwatch_core.adapters.stores.limits import PATIENCE
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.intake.ignore_file import rules_from, unreadable
from nightwatch_core.intake.ignore_rules import expired
from nightwatch_core.models.pattern import IgnoreRule, IgnoreRules
from nightwatch_core.ports import Clock
from nightwatch_core.text.frontmatter import Quoted, composed
from nightwatch_core.text.yaml_lists import is_absent, list_items, rows_of, with_items

LOCK = ".ignore.lock"
_MARK = "\ufeff"
_BOUNDS = ("expires", "unless_rate_above")


class Added(NamedTuple):
    """What became of a rule; `rule` as it stands in the file now."""

    status: Literal["added", "renewed", "already there"]
    rule: IgnoreRule


class IgnoreFile:
    """An ignore.yml, to which one rule at a time may be added."""

    def __init__(self, path: Path, clock: Clock) -> None:
        """Nothing is touched before it is needed; the file need not exist."""
        self.path = path
        self._clock = clock

    def today(self) -> date:
        """The date, here."""
        return self._clock.now().astimezone().date()

    def rules(self) -> IgnoreRules:
        """Its rules; raises `StopTheNight` where it cannot be read."""
        return rules_from(self._text())

    def add(self, rule: IgnoreRule) -> Added:
        """Add a rule at the end, or give the same rule that has expired its new expiry.

        All other text stays as it is. The result is read by the strict reader before it is written
        and once more afterwards. Raises `StopTheNight` where the file cannot be read or written, or
        would not hold exactly the rules it held and this one; it is untouched then.
        """
        lock, place = self.path.with_name(LOCK), str(self.path)
        with atomic_files.only_writer(lock, PATIENCE, place, StopTheNight):
            before = self._text()
            same = next((one for one in rules_from(before).rules if _same(one, rule)), None)
            if same and not expired(same, self.today()):
                return Added("already there", same)
            goal = _renewed(same, rule) if same else rule
            after = self._edited(before, goal, renew=same is not None)
            added = self._checked(before, after, goal, same)
            self._write(before, after)
            return Added("renewed" if same else "added", added)

    def _edited(self, before: str, rule: IgnoreRule, *, renew: bool) -> str:
        mark = _MARK if before.startswith(_MARK) else ""
        text = before.removeprefix(_MARK)
        if why := unreadable(text):
            raise self._refused(f"it cannot be read ({why}): mend it first", rule)
        ends = "\r\n" if "\r\n" in text else "\n"
        text = text.replace("\r\n", "\n") if ends == "\r\n" else text
        if "\r" in text or (ends == "\r\n" and text.count("\n") != before.count("\r\n")):
            raise self._refused("its lines end in different ways: make them one", rule)
        try:
            edited = (
                _with_bounds(text, rule) if renew else with_items(text, "ignore", [_fields(rule)])
            )
        except GiveUp as error:
            raise self._refused(str(error), rule) from None
        return mark + edited.replace("\n", ends)

    def _checked(
        self, before: str, after: str, rule: IgnoreRule, same: IgnoreRule | None
    ) -> IgnoreRule:
        """The rule as it was read from the text to be; raises where any other one would change."""
        old, new = rules_from(before), rules_from(after)
        wanted = [rule if one == same else one for one in old.rules] + ([] if same else [rule])
        whole = len(old.complaints) == len(new.complaints) and len(wanted) == len(new.rules)
        if not whole or not all(map(_says, new.rules, wanted)):
            raise self._refused("another rule would change", rule)
        return next(one for one in reversed(new.rules) if _same(one, rule))

    def _write(self, before: str, after: str) -> None:
        atomic_files.rewrite(self.path, after.encode())
        if self._text() != after:
            atomic_files.rewrite(self.path, before.encode())
            raise StopTheNight(f"{self.path} was not written as it should be: it is as it was")

    def _text(self) -> str:
        try:
            return text_of(self.path)
        except FileNotFoundError:
            return ""
        except GiveUp as error:
            raise StopTheNight(f"{self.path} cannot be read: {error}") from error
        except OSError as error:
            link = "it is a link, name the file itself" if self.path.is_symlink() else ""
            raise StopTheNight(f"{self.path} cannot be read: {link or error.strerror}") from error

    def _refused(self, why: str, rule: IgnoreRule) -> StopTheNight:
        return StopTheNight(
            f"{self.path} is left as it is: {why}. To add the rule by hand:\n\n"
            f"{rows_of([_fields(rule)])}"
        )


def _same(one: IgnoreRule, other: IgnoreRule) -> bool:
    """Whether two rules cover the same."""
    return (_folded(one), one.match, one.field) == (_folded(other), other.match, other.field)


def _folded(rule: IgnoreRule) -> str:
    return rule.pattern.strip().casefold()


def _renewed(old: IgnoreRule, rule: IgnoreRule) -> IgnoreRule:
    """The rule of the file with a new expiry, and a new rate where it had one."""
    rate = (rule.unless_rate_above or old.unless_rate_above) if old.unless_rate_above else None
    return old.model_copy(update={"expires": rule.expires, "unless_rate_above": rate})


def _says(new: IgnoreRule, wanted: IgnoreRule) -> bool:
    """Whether a rule reads as it should, wherever it stands."""
    return new.model_dump(exclude={"line"}) == wanted.model_dump(exclude={"line"})


def _with_bounds(text: str, rule: IgnoreRule) -> str:
    """The text with new values of `expires` and `unless_rate_above` in the rule on `rule.line`.

    Only keys that are there get a value. Raises `GiveUp` where there is no `expires`.
    """
    bounds = {key: str(_fields(rule)[key]) for key in _BOUNDS if key in _fields(rule)}
    if "expires" not in bounds:
        raise GiveUp("a rule that has expired cannot be made to hold for ever: edit its line")
    items = list_items(composed(text)[0], "ignore")
    places = [
        (value.start_mark.index, value.end_mark.index, bounds[key.value])
        for item in items
        if item.start_mark.line + 1 == rule.line
        for key, value in item.value
        if key.value in bounds and not is_absent(value) and value.style not in ("|", ">")
    ]
    if not places:
        raise GiveUp("the rule that has expired is not where it was: try again")
    for begin, end, value in sorted(places, reverse=True):
        text = f"{text[:begin]}{value}{text[end:]}"
    return text


def _fields(rule: IgnoreRule) -> dict[str, object]:
    """What is written of a rule."""
    rate = rule.unless_rate_above
    fields = {
        "pattern": Quoted(rule.pattern),
        "match": rule.match,
        "field": rule.field,
        "reason": Quoted(rule.reason) if rule.reason else None,
        "expires": rule.expires,
        "unless_rate_above": int(rate) if rate and rate == int(rate) else rate,
    }
    return {key: value for key, value in fields.items() if value}
