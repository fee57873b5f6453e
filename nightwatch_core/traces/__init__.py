"""Stack traces of several languages, read into frames."""
