"""Limits of what is kept, matched and shown of a source."""

# counting, of one source
GROUPS = 20_000  # different errors; the records of further ones are counted
STACK_TEXT = 134_217_728  # characters of all stack traces together
# counting, of one group
RELEASES = 200
USERS = 200_000  # told apart
STACKS = 5  # raw stack traces
MESSAGES = 32  # of one group, counted apart
# ignore rules
IGNORE_FILE = 262_144  # characters
PATTERN = 500  # characters
GLOB, STARS = 300, 8  # characters of a glob; each star costs another pass over the text
MATCHED_TEXT = 4_000  # characters of a message
QUOTED_PATTERN = 60  # characters
SENTENCES = 20  # rules that do not hold, each in a sentence of its own
# selection
GROUPS_A_CASE = 3  # traced for every case that will be analysed
KNOWN_GROUPS = 60  # that lessons name, traced besides them
FAMILY = 5  # cases, the leader included
FUNCTION_NAME = 500  # characters that are looked at
