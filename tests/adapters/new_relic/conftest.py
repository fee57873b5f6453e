import pytest
from services.nerdgraph import NerdGraphService


@pytest.fixture
def service():
    """A NerdGraph of its own for each test."""
    with NerdGraphService() as started:
        yield started
