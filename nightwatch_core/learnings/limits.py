"""How much of each learning, file and answer is read, kept or said."""

# Characters.
ANSWER = 24_000  # to a coding agent, some 6,000 tokens
QUERY = 500
CAUSE = 400
MATERIAL = 40_000  # that a model is asked about, some 13,000 tokens
REPLY = 100_000  # of a model
SECTION = 64 * 1024  # of a task file
LIST_ITEM = 200
HEADLINE = 100  # of a learning
LEARNING = 300  # below its headline
COMPARED = 4_000  # of two texts

# Entries.
RESULTS = 20
LIST_ITEMS = 100
OFFERS = 200
STATEMENTS = 2_000  # of CLAUDE.md
WORDS = 200  # of a text that is compared

REPLY_TOKENS = 4_000  # thinking included
