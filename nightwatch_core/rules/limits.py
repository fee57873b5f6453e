"""How much the rules ask, read and say: one table, each bound with its unit."""

# Asking
ROUNDS, QUESTIONS = 10, 8  # turns with questions; tool calls in one turn
READ_LINES = 400  # lines asked for at once: as many as the tool shows
WHOLE_FILE = 6_000  # lines; longer files are not read in full
QUERY = 100  # characters of a text that is searched for

# Reading
LINE, MESSAGE = 500, 1_000  # characters that are looked at
LINES_ABOVE, LINES_BELOW = 50, 30  # around a failing line
STATEMENT_LINES, HEAD_LINES, BODY_LINES = 6, 80, 60  # of a statement, imports, a called function
FRAMES, CALLERS = 20, 2  # frames that are looked at; that a parameter is followed outwards
NONE_CANDIDATES = 12  # expressions of a statement that may be None
DEFINING_FILES = 6  # files that may define a name, of which each is read
QUOTED_VALUES, WRITING_LINES = 2, 3  # values of a message; lines that may write one
CANDIDATES, SHORTEST_WORD = 3, 3  # similar names looked into; letters of a word worth a search

# Saying
EVIDENCE, SENTENCES, STEPS, LEARNINGS, KEYS = 6, 4, 4, 3, 12  # items of an answer
EDITED_FILES = 8  # files a rename may touch
HANDED_LINES, HANDED_LINE = 3, 200  # above and below the failing line; characters of each
LONGEST_TITLE = 120  # characters
