"""What the code cache did, from one analysis to the report."""

import io

from core.report_fixture import analysis, complete
from rich.console import Console

from nightwatch_core.adapters.html.page import as_html
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import CodeReads
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.builder import code_reads
from nightwatch_core.report.markdown import as_markdown
from nightwatch_core.report.terminal import NightReport
from nightwatch_core.text.words import caching

FIRST = CodeReads(memory=1, disk=2, asked=20, requests=5, saved=3, files=("a.rb", "b.rb"))
SECOND = CodeReads(memory=37, disk=1, asked=2, requests=4, saved=27, files=("b.rb", "c.rb"))


def printed(report: RunReport) -> str:
    out = io.StringIO()
    Console(file=out, width=200).print(NightReport(report))
    return out.getvalue()


def everywhere(report: RunReport) -> tuple[str, ...]:
    whole = (printed(report), as_markdown(report), as_html(report))
    return tuple(" ".join(text.split()) for text in whole)


def test_a_night_adds_up_its_analyses_and_a_file_is_one_file() -> None:
    analyses = (analysis(1, code_reads=FIRST), analysis(2), analysis(3, code_reads=SECOND))
    night = code_reads(analyses)
    assert night == CodeReads(
        memory=38, disk=3, asked=22, requests=9, saved=30, files=("a.rb", "b.rb", "c.rb")
    )
    said = "41 of 63 reads answered from records (3 of them from disk), 3 files, 9 requests, 30"
    for text in everywhere(complete(analyses=analyses, code_reads=night)):
        assert said in text
        assert "Code cache" in text


def test_every_analysis_says_what_it_took() -> None:
    night = complete(analyses=(analysis(1, code_reads=FIRST),))
    for text in (as_markdown(night), as_html(night)):
        assert "3 of 23 reads answered from records" in " ".join(text.split())


def test_local_code_has_no_cache_to_speak_of() -> None:
    night = complete()
    assert code_reads(night.analyses) is None
    for text in everywhere(night):
        assert "Code cache" not in text


def test_a_cache_that_was_of_no_use_says_so() -> None:
    (night,) = (code_reads((analysis(1, code_reads=CodeReads()),)),)
    assert night == CodeReads()
    assert (
        "0 of 0 reads answered from records, 0 files" in everywhere(complete(code_reads=night))[0]
    )


def test_more_files_than_are_named_are_said_to_be_more() -> None:
    assert ", over 2 files, " in caching(FIRST.model_copy(update={"more_files": 1}))
    assert ", 2 files, " in caching(FIRST)


def test_an_analysis_that_was_kept_before_there_were_counts_can_be_read() -> None:
    kept = analysis(1).model_dump(mode="json")
    del kept["code_reads"]
    assert Analysis.model_validate(kept) == analysis(1)
    counted = analysis(1, code_reads=FIRST)
    assert Analysis.model_validate_json(counted.model_dump_json()) == counted
