"""Limits on the code that is read, compared and shown, each with its unit."""

# Lines and texts
LINE = 400  # characters of a line in a preview, or looked at for names
SHOWN_LINE = 1_000  # characters of a line among others that a tool shows, or that a rule reads
MESSAGE = 2_000  # characters of an error's message that are looked at
ROOT_CAUSE, QUESTION = 8_000, 500  # characters
DIFF_CONTEXT = 2  # unchanged lines that a diff shows around a change
DIFF_AROUND, DIFF_COMPARED = 3, 1_000  # likewise of a whole file; lines that are compared

# Parsing: beyond these, parsers and queries take seconds
TAINT_TEXT = 20_000  # characters of a stranger's text that are looked at for orders
PARSED_FILE, PARSED_YAML = 500_000, 100_000  # characters; YAML's parser is slow
YAML_DEPTH = 200  # levels: its parser takes minutes for brackets a hundred thousand deep
QUERY_DEPTH, QUERY_WIDTH = 200, 2_000  # levels of a tree; children of a text that is no program

# Names in files
NAMED_FILE, NAMED_LINE = 150_000, 2_000  # characters in which names are looked for
LONGEST_NAME, SHORTEST_NAME = 200, 3  # bytes; characters
CACHED_FILES = 32  # files whose names are kept: the same few are asked for again and again

# Definitions of what the failing lines call
NEAR_FRAMES, NEAR_LINES = 3, 8  # innermost own frames, lines above theirs
OWNERS = 3  # classes or modules that a receiver may be
NEAR_NAMES = 24  # names of one case
CALLEES, CALLEE_LINES, CALLEE_CHARACTERS = 8, 17, 9_000  # definitions; lines of each; of all
WHOLE_CALLEE = 40  # lines of one that makes the failing value
CALLEE_SEARCHES, CALLEE_HITS = 12, 40  # names looked for in the whole tree; lines of one search
SAME_NAME_PLACES = 3  # that may define a name; of more nobody knows which one is meant
IMPORT_LINES = 400  # lines at the beginning of a file in which imports stand

NAMED_SEARCHES = 3  # names of a message that are followed

# Files, changes, releases
LIKELY_FILES, FILES_A_GUESS, COMPARED_FILES = 10, 2, 10  # files of a case, a guess, a suspect
FIRST_FILES = 30  # that are read together for a case, before anything else
TRANSACTIONS, TRANSACTION_NAMES, MESSAGE_WORDS = 3, 12, 20  # items that are looked at
RANKED_FRAMES = 200  # frames
SUSPECTS, CANDIDATES, RELEASES = 3, 5, 200  # items
NEAR_DAYS = 30  # before an error began, in which a change may have brought it
COMPARED_LINES = 5_000  # lines of two texts

# Quotes
QUOTE, QUOTED_LINES = 4_000, 40  # characters; lines
QUOTE_NEAR = 10  # lines by which the line of a quote that stands once in its file may be off
QUOTE_SCRAP = 5  # characters a part of a line needs to be told from chance
TEST_FILES = 3  # that test one file

# What is handed on of an error whose cause is not known
HANDED_LINES, HANDED_STEPS = 4, 6  # lines above and below the failing one; what to look at next
HANDED_LINE, HANDED_TEXT, HANDED_VALUE = 300, 300, 200  # characters of a line; a text; the value

# What speaks against a record
FITTED_PLACES = 10  # own frames looked at
DRIFT = 12  # lines by which a line may have moved between the commit that failed and one near it
SHOWN_SOURCE = 120  # characters of a record's line in a reason
NEIGHBOUR_COMMITS = 12  # looked at for a record's source

# Where a failing value comes from
FLOW_DEPTH, FLOW_STEPS, SETS_OF_ONE = 2, 12, 2  # assignments back; statements; of one name
FLOW_READS, FLOW_NODES = 24, 200_000  # names of a statement that are followed; nodes of a file
STATEMENT_LINES = 12  # of a statement that are looked at

# Band-aids: changes that make a crash go away and leave its cause
OPTIONAL_ROWS = 60  # lines above a guard in which its value may be said to be optional
