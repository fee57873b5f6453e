"""Ruby backtraces: MRI, JRuby, Rails logs, RSpec, rake."""

import re
from collections.abc import Sequence

from nightwatch_core.models.errors import Frame
from nightwatch_core.traces.chains import (
    Chain,
    Chains,
    Header,
    Relation,
    close_block,
    open_block,
    read_with,
)
from nightwatch_core.traces.normalise import class_of

CLUES = (":in", ".rb:", ".erb:", ".rake:", ".ru:", ".haml:", ".slim:", 'File "')

_FILE = r"\.(?:rb|erb|rake|haml|slim|ru|builder|jbuilder|rabl|arb|prawn|gemspec|thor|scss|sass)"
_LOCATION = re.compile(r":(?P<line>\d{1,9}):in(?:\s{1,9}(?P<label>.*))?$")
_TOP_LEVEL = re.compile(rf"(?P<path>\S.{{0,500}}?{_FILE}):(?P<line>\d{{1,9}}):?(?P<rest> .*)?$")
_JAVA_STYLE = re.compile(
    rf"\s{{0,80}}(?:at )?(?P<label>[^()\s][^()]{{0,300}})"
    rf"\((?P<path>[^()]{{1,500}}{_FILE}):(?P<line>\d{{1,9}})\)$"
)
# As trackers print a trace of any language into an issue: as Python would.
_QUOTED = re.compile(
    rf"\s{{0,80}}File \"(?P<path>[^\"]{{1,500}}{_FILE})\", line (?P<line>\d{{1,9}})"
    r"(?:,? in (?P<label>.{1,300}))?$"
)
_IS_RUBY = re.compile(rf"{_FILE}$")
_NUMBERED = re.compile(r"\s{0,80}\d{1,5}: from ")
# What stands before the path of a frame.
_LEAD = re.compile(
    r"(?:\s+|\d{1,5}: from |from |# ?|\[\d{1,5}\] |=> |\d{1,4}[.)] |[-*] |[\[\"'`]){1,9}"
)
_ABSOLUTE = re.compile(r"[A-Za-z]:[\\/]|/")
_EVAL = re.compile(r"\(eval at (?P<path>[^()]{1,500}):(?P<line>\d{1,9})\)$")
_OWNER = re.compile(
    r"(?P<outer>(?:(?:block|rescue|ensure)(?: \(\d{1,4} levels\))? in ){0,9})"
    r"(?P<owner>[A-Z]\w*(?:::\w+){0,20})[#.](?P<method>.+)"
)

_CLASS = r"[A-Z]\w{0,100}(?:::[A-Z]\w{0,100}){0,12}"
_CLASS_FIRST = re.compile(
    r"\s{0,200}(?:# +)?(?:Information for(?: cause)?: )?"
    rf"(?P<error_class>{_CLASS})(?:: (?P<message>.+)| \((?P<inside>.*)\):?|:)$"
)
_CLASS_LAST = re.compile(rf"\((?P<error_class>{_CLASS})\)$")
_MAILED = re.compile(rf"An? (?P<error_class>{_CLASS}) occurred (?:in|while) ")  # to a person
_NOT_CLASSES = frozenset(
    ("Parameters", "Note", "Failure", "Failures", "Error", "Tasks", "Message", "Class", "Finished",
     "Backtrace", "Stacktrace", "StackTrace", "Stack", "Trace", "Traceback", "Callstack")
)  # fmt: skip
_GAP = re.compile(r"[\s.*]*$|\s*\.\.\..*$")


def read(lines: Sequence[str]) -> tuple[Chain, ...]:
    """Return the chains of exceptions in a text.

    >>> read(("KeyError: key not found", "app/cart.rb:7:in 'Cart#total'"))[0][0].error_class
    'KeyError'
    """
    return read_with(_Reader(), lines)


class _Reader:
    """Ruby 2.5 to 2.7 number their frames on a terminal and print the innermost last."""

    def __init__(self) -> None:
        self._chains = Chains()
        self._above: list[str] = []
        self._numbered = False
        self._after_numbered = False

    def read(self, line: str) -> None:
        frame = frame_of(line)
        if frame is None:
            self._above.append(line)
            return
        if _NUMBERED.match(line):
            if not self._numbered:
                wraps = self._after_numbered and not self._above
                self._chains.begin(Header(), Relation.WRAPPER if wraps else Relation.SEPARATE)
            self._numbered = True
        elif self._numbered:
            self._chains.name(_named_behind(line) or Header())
            self._chains.add(frame)
            self._chains.reverse()
            self._above.clear()
            self._numbered, self._after_numbered = False, True
            return
        else:
            self._open(line)
        self._above.clear()
        self._chains.add(frame)

    def finish(self) -> tuple[Chain, ...]:
        if self._numbered:
            self._chains.reverse()
        close_block(self._chains, self._above, header_of)
        return self._chains.finish()

    def _open(self, line: str) -> None:
        named = _named_behind(line)
        if named is not None:
            gap = all(_GAP.match(above) for above in self._above)
            relation = Relation.CAUSE if gap and self._chains else Relation.SEPARATE
            self._chains.begin(named, relation)
        elif self._above or not self._chains:
            open_block(self._chains, self._above, header_of)
        self._after_numbered = False


def frame_of(line: str) -> Frame | None:
    """Return the frame that a line prints.

    >>> frame_of("\\tfrom lib/shop/cart.rb:12:in 'block in Shop::Cart#total'").function
    'block in total'
    """
    match = _LOCATION.search(line)
    if match:
        return _labelled(line[: match.start()], match)
    match = _QUOTED.match(line)
    if match:
        return _frame(match["path"], match["line"], match["label"] or "")
    match = _TOP_LEVEL.match(_without_lead(line))
    if match:
        path, rest = match["path"], (match["rest"] or "").strip()
        if re.search(r"\s", path) and not _ABSOLUTE.match(path):
            return None  # prose that names a file
        if rest.startswith("warning:") or (
            rest and not (_CLASS_LAST.search(rest) or "error" in rest)
        ):
            return None
        return _frame(path, match["line"], "")
    match = _JAVA_STYLE.match(line)
    if match:
        return _frame(match["path"], match["line"], match["label"].rpartition(".")[2])
    return None


def _labelled(head: str, match: re.Match[str]) -> Frame | None:
    path = _path_in(head)
    label, _ = _label_and_rest(match["label"] or "")
    quoted = not match["label"] or match["label"][0] in "`'"
    if not path or not (quoted or _IS_RUBY.search(path)):
        return None
    evaluated = _EVAL.search(head)
    if evaluated:
        return _frame(evaluated["path"], evaluated["line"], label)
    return _frame(path, match["line"], label)


def _frame(path: str, line: str, label: str) -> Frame:
    match = _OWNER.match(label)
    function, module = (match["outer"] + match["method"], match["owner"]) if match else (label, "")
    return Frame(
        path=path.removeprefix("file://"), line=int(line), function=function, module=module
    )


def _path_in(head: str) -> str:
    """The path at the end of what stands before the line number.

    >>> _path_in("web: I saw /srv/shop/cart.rb"), _path_in("C:/Program Files/cart.rb")
    ('/srv/shop/cart.rb', 'C:/Program Files/cart.rb')
    """
    path = _without_lead(head)
    whole = _ABSOLUTE.match(path) and " /" not in path
    if " " in path and not whole and not path.endswith(")"):
        path = path.rsplit(maxsplit=1)[-1].lstrip("[(\"'`")
    return path


def _without_lead(line: str) -> str:
    match = _LEAD.match(line)
    return line[match.end() :] if match else line


def _label_and_rest(label: str) -> tuple[str, str]:
    if label[:1] in ("`", "'"):
        inside, _, rest = label[1:].partition("'")
        return inside, rest.removeprefix(":").strip()
    inside, _, rest = label.partition(": ")
    return inside, rest


def _named_behind(line: str) -> Header | None:
    match = _LOCATION.search(line)
    if match:
        rest = _label_and_rest(match["label"] or "")[1]
    else:
        top_level = _TOP_LEVEL.match(_without_lead(line))
        rest = (top_level["rest"] or "").strip() if top_level else ""
    return (header_of(rest) or Header(message=rest)) if rest else None


def header_of(line: str) -> Header | None:
    """Return the exception that a line names, in any of the orders of Ruby and its tools.

    >>> header_of("Shop::Empty (no items):")
    Header(error_class='Shop::Empty', message='no items')
    >>> header_of("Puma caught this error: no items (Shop::Empty)").error_class
    'Shop::Empty'
    """
    last = _CLASS_LAST.search(line)
    if last:
        return Header(last["error_class"], line[: last.start()].strip())
    first = _CLASS_FIRST.match(line)
    if first and first["error_class"] not in _NOT_CLASSES:
        return Header(first["error_class"], first["message"] or first["inside"] or "")
    mailed = _MAILED.match(line)
    if mailed:
        return Header(mailed["error_class"])
    known = class_of(line, "ruby")
    return Header(known, line.strip()) if known else None
