"""The outside world, one neighbour a file."""
