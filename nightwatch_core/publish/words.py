"""Words for people, by what they are about and by the state that they name."""

from nightwatch_core.text.plain_text import data_table

WORDS = data_table(__package__, "words.toml", dict[str, dict[str, str]])
