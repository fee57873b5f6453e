"""Rules a person might add to ignore.yml: argued, narrowed, and tried on the nights that were.

Which errors a rule covers is `intake`; writing ignore.yml is an adapter's.
"""
