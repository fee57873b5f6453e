import pytest
from services.sentry import SentryService


@pytest.fixture
def service():
    """A Sentry of its own for each test."""
    with SentryService() as started:
        yield started
