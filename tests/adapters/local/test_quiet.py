import pytest
from core.report_fixture import empty

from nightwatch_core.adapters.local import quiet
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposals import OpenIssue


def test_a_quiet_outbox_publishes_nothing_and_says_so():
    issue = OpenIssue(key="k1", fingerprint="v1:a", title="T", body="B")
    receipt = quiet.QuietOutbox().publish(issue)
    assert (receipt.status, receipt.number, receipt.title) == ("held back", None, "T")


def test_the_news_is_where_the_page_is(tmp_path):
    page = tmp_path / "report.html"
    page.write_text("")
    night = empty().night.model_copy(update={"folder": str(tmp_path)})
    assert quiet.LocalNotifier().publish(empty(night=night)) == str(page.resolve())


@pytest.mark.parametrize("folder", ["", "nowhere"])
def test_there_is_no_news_without_a_page(tmp_path, folder):
    unkept = empty().night.model_copy(update={"folder": folder and str(tmp_path / folder)})
    with pytest.raises(GiveUp, match="has not been written"):
        quiet.LocalNotifier().publish(empty(night=unkept))
