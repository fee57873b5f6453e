"""New_relic."""
