"""The steps of the night as Prefect tasks: each guards one thought of the core."""
