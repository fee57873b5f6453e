"""Prove fixes: a test raises the crash and passes with the fix; what fails is mended once."""
