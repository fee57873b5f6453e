"""What became of our proposals: followed up, measured, and counted on the scoreboard."""
