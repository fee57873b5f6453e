"""Runs what nobody has read: bubblewrap, else namespaces by hand; never bare.

Which commands are run, and what their ends mean, is decided by `nightwatch_core/gate/`.
"""
