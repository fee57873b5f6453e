"""The steps of the night as Prefect tasks: retried, cached, named; the core does the work."""
