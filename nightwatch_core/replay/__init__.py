"""A night as a bundle: recorded answers and decisions, to be run again and compared.

Not in here: where bundles are stored (`adapters/stores/state_folder.py`), and which ports are
recorded (`tasks/wiring/proxies.py`).
"""
