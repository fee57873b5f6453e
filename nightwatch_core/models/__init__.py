"""The words of the house: frozen values, one family a file."""
