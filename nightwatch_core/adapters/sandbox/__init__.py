"""Runs what nobody has read: bubblewrap or namespaces; never bare.

Which commands are run, and what their ends mean, is decided by `nightwatch_core/proof/`.
"""
