import pytest
from github_world import bare_shop
from services.github import GitHub


@pytest.fixture
def server(tmp_path):
    """A GitHub with a shop, for one test."""
    with GitHub(bare_shop(tmp_path)) as server:
        yield server
