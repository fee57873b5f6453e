"""What every code host has in common: issues, pull requests, branches, and a clone of the code."""
