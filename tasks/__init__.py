"""The steps of the night as Prefect tasks: retried, cached, named; the core does the work."""

import logging

for _name in ("nightwatch_core", "tasks"):
    _logger = logging.getLogger(_name)
    if _logger.level == logging.NOTSET:  # Prefect hears extra loggers, but sets no level of theirs
        _logger.setLevel(logging.INFO)
