"""Runs of tests in which everything that is raised is written down, beside what they print.

What is printed can be made up by a test; what is written down is seen by the language's own
machinery: a trace function, a trace point, a debugger. It stands behind the output, after a mark
that nobody knows who wrote the test.
"""

from typing import NamedTuple

from nightwatch_core.gate.kit import Words
from nightwatch_core.proof import recorder_node, recorder_python, recorder_ruby

_KEPT = 150_000  # characters of what is written down


class Recorder(NamedTuple):
    """A file that a language's programs load first, and the shell's words that have it loaded."""

    file: str
    text: str
    loads: str
    tells_left: bool  # whether it says which frames an exception left


RECORDERS: dict[str, Recorder] = {
    "python": Recorder(
        "sitecustomize.py",
        recorder_python.TEXT,
        'cp "$d/sitecustomize.py" "$d/nightwatch_recorder.py"; '
        'export PYTHONPATH="$d:$PYTHONPATH" PYTEST_PLUGINS=nightwatch_recorder',
        tells_left=True,
    ),
    "ruby": Recorder(
        "recorder.rb",
        recorder_ruby.TEXT,
        'export RUBYOPT="-r$d/recorder.rb $RUBYOPT"',
        tells_left=False,
    ),
    "javascript": Recorder(
        "recorder.cjs",
        recorder_node.TEXT,
        'export NODE_OPTIONS="--require $d/recorder.cjs $NODE_OPTIONS"',
        tells_left=False,
    ),
}
_SCRIPT = """\
mark=$1 d=/tmp/$1 file=$2 text=$3; export NIGHTWATCH_RAISES="$4"; shift 4
mkdir -p "$d" && printf %s "$text" > "$d/$file" && : > "$d/raised"
{loads}
"$@"; code=$?
printf '\\n%s\\n' "$mark"; head -c {kept} "$d/raised"; exit $code"""


def recorded(words: Words, recorder: Recorder, mark: str, error_class: str) -> Words:
    """Give the words that run `words`, and then print the mark and what was raised."""
    script = _SCRIPT.format(loads=recorder.loads, kept=_KEPT)
    return ("/bin/sh", "-c", script, "sh", mark, recorder.file, recorder.text, error_class, *words)
