"""Which files are read for a case before anything else is known of it."""

from nightwatch_core.code.likely_files import likely_files
from nightwatch_core.code.limits import FIRST_FILES
from nightwatch_core.models.error import Case
from nightwatch_core.traces.path_index import PathIndex


def first_files(case: Case, index: PathIndex) -> tuple[str, ...]:
    """List the files that research begins with: those of own frames, then the likely ones."""
    frames = case.trace.in_app if case.trace else ()
    named = (frame.repo_path for frame in frames if frame.repo_path)
    likely = (file.path for file in likely_files(case, index))
    return tuple(dict.fromkeys((*named, *likely)))[:FIRST_FILES]
