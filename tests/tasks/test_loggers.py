import logging

import pytest

import tasks  # noqa: F401 - importing it is what sets them


@pytest.mark.parametrize("name", ["tasks.analysis", "nightwatch_core.analysis"])
def test_what_our_loggers_say_is_heard(name):
    assert logging.getLogger(name).isEnabledFor(logging.INFO)
