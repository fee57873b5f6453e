"""What an answer's edits are sent back for, once: the rules that would refuse them, in words."""

from collections.abc import Collection

from nightwatch_core.code.edit_grounds import grounds_of
from nightwatch_core.code.edit_rules import judged
from nightwatch_core.code.verdict import looked_up
from nightwatch_core.models.analysis import RefusedEdit
from nightwatch_core.models.answer import Answer
from nightwatch_core.models.error import Case
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.escaping import line

_REASONS = 10  # that are told
_MEND = """\
These edits cannot be proposed as they are:
{reasons}
Mend them, or leave them out, and answer once more with the whole JSON object. Old text is copied \
from the file as it was shown and stands there once; a file has to be read before it is changed; a \
new one lies beside files that were read; what is deleted is named in the cause or the next steps; \
protected files stay as they are. What is refused again is dropped."""


def complaints(
    answer: Answer, case: Case, code: CodeReader, read: Collection[str]
) -> tuple[RefusedEdit, ...]:
    """List the edits of an answer that would be dropped, each with the reason.

    `read` are the files lines of which were shown. Raises what the code reader raises.
    """
    if not answer.has_fix or not answer.file_changes:
        return ()
    grounds = grounds_of(answer, case, looked_up(answer.evidence, code), read)
    return judged(answer.file_changes, code, grounds).refused


def mend_request(refused: tuple[RefusedEdit, ...]) -> str:
    """Ask for the answer again with those edits mended; empty where none is refused.

    >>> print(mend_request((RefusedEdit(path="a.py", reason="it was not read"),))[:67])
    These edits cannot be proposed as they are:
    - a.py: it was not read
    """
    rows = (f"- {line(one.path, 200)}: {line(one.reason)}" for one in refused[:_REASONS])
    return _MEND.format(reasons="\n".join(rows)) if refused else ""
