"""Where code defines a function or a class, in any of the languages we meet: data and one pass."""

import re

from nightwatch_core.code.source import body_of
from nightwatch_core.traces.repo_paths import text_lines

LONGEST_LINE = 400  # characters of a line that are looked at
_NAME = re.compile(r"[A-Za-z_]\w{0,80}[?!]?$")
_CLOSES = ("end", "}", "};", "});", ")")  # what may stand alone behind a body

# How languages begin the definition of {name}, tried in this order.
DEFINITIONS = (
    r"\s*(?:async\s+)?def\s+(?:self\.)?{name}(?!\w)",
    r"\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*{name}(?!\w)",
    r"\s*(?:export\s+)?(?:const|let|var)\s+{name}\s*=",
    r"\s*func\s+(?:\([^)]*\)\s*)?{name}(?!\w)",
    r"\s*(?:(?:public|private|protected|internal|static|final|abstract|override|async|suspend)\s+)+"
    r"[\w<>\[\],.? ]*?\b{name}\s*\(",
    r"\s*(?:fun|function)\s+{name}(?!\w)",
    r"\s*(?:async\s+)?{name}\s*\([^)]*\)\s*\{{",
)
# How they begin a class or what is like one.
TYPES = (
    r"\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|sealed|data"
    r"|partial|open)\s+)*(?:class|interface|struct|enum|record|trait|object|module)\s+(?:\w+::)*"
    r"{name}(?!\w)",
    r"\s*type\s+{name}\s+(?:struct|interface)(?!\w)",
)


def definition(name: str, text: str, forms: tuple[str, ...] = DEFINITIONS) -> int:
    """The line on which a function of this name begins; 0 where none is found.

    >>> definition("show", "class A\\n  def index; end\\n  def show\\n"), definition("x y", "")
    (3, 0)
    >>> definition("Cart", "import x\\nclass Cart:\\n", TYPES)
    2
    """
    if not _NAME.match(name) or name not in text:
        return 0
    holding = [(n, line) for n, line in enumerate(text_lines(text), start=1) if name in line]
    for form in forms:
        begins = re.compile(form.format(name=re.escape(name)))
        for number, line in holding:
            if begins.match(line[:LONGEST_LINE]):
                return number
    return 0


def end_of(text: str, start: int, most: int) -> int:
    """The last line of the definition that begins at line `start`, at most `most` lines of it.

    >>> end_of("def a\\n  1\\nend\\n\\ndef b\\n", 1, 9), end_of("def a():\\n  1\\n  2\\n", 1, 2)
    (3, 2)
    """
    lines = dict(enumerate(text_lines(text)[start - 1 : start + most], start))
    held = [number for number in body_of(lines, start) if lines[number].strip()]
    last = held[-1]
    if lines.get(last + 1, "").strip() in _CLOSES:
        last += 1
    return min(last, start + most - 1)
