"""Secret files are known by their path, however it is written; code about secrets is not."""

import pytest
from tables import tables_of

from nightwatch_core.privacy.rules import is_secret_file

TABLES = tables_of(__file__)

SECRET = TABLES["secret"]
PLAIN = TABLES["plain"]


@pytest.mark.parametrize("path", SECRET)
def test_what_holds_secrets_is_not_read(path):
    assert is_secret_file(path)


@pytest.mark.parametrize("path", [*PLAIN, "", "/", "."])
def test_what_speaks_of_secrets_is_code(path):
    assert not is_secret_file(path)
