"""Proves fixes: the crash is raised by a test, and gone with the fix; what fails is mended once.

Each part asks the model within the fix's allowance and runs what comes of it in the sandbox.
"""
