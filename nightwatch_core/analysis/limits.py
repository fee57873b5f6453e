"""Limits of an analysis, each with its unit."""

# One turn's tool calls
CALLS_A_TURN = 16  # calls that are run
CALLS_AT_ONCE = 8  # calls that run side by side
TURN_CHARACTERS = 40_000  # characters that the answers of one turn have together
IDLE_TURNS = 3  # turns in a row that may bring nothing new
COMPARED_LINE = 400  # characters of a line that tell it from another

# What an analysis may run
RUNS, RUNS_SECONDS = 6, 120.0  # runs, seconds of all together
RUNS_SECONDS_KEPT = 40.0  # seconds that have to be left for one more: it may take them all
RUN_KEPT = 6_000  # characters of what a run printed

# Tokens of one conversation
CONCLUSION_TOKENS = 8_000  # kept for the answer at most, thinking included …
SHORTEST_CONCLUSION = 1_000  # … and at least
CONCLUSION_SHARE = 0.15  # of the tokens, and of the time, kept for it at most
OUTPUT_STEP = 500  # tokens; bounds on a call's output are multiples of it
USEFUL_TOKENS = 45_000  # a long first message, told again at the end, and an answer
ANSWER_TOKENS = 32_000  # of one reply, thinking included, where nobody says
FIRST_MESSAGE_TOKENS = 20_000  # as `estimated_tokens` counts them
FIRST_WORDS = 100  # tokens of them for the words before all sections, and behind them

# Parts of the first message
MESSAGE, OTHER_MESSAGE = 2_000, 200  # characters: of the leading group, of each other one
GROUPS, LIKELY_FILES, LEARNINGS, PATTERNS, PRIORS = 8, 12, 5, 3, 3  # items
EARLIER_LOOK = 8_000  # characters of what the first look found
READ_AGAIN, RANGES, GAP = 16_000, 80, 2  # characters, ranges; lines between two that are joined
OTHER_FINDINGS = 6  # of tonight, told to a second look
CONVENTIONS, CONVENTIONS_READ = 2_000, 20_000  # characters: told, and looked at
LEADER_FINDINGS = 1_500  # characters of all lines together, line breaks counted
LEADER_LINES, LEADER_LINE, LEADER_FILES = 4, 200, 3  # finding and learnings; characters; files
RUN_FACTS, RUN_CONTEXT, RUN_FACT = 10, 1_500, 200  # facts of the night; characters: all, one
RUN_QUOTE = 80  # characters of a quote in one
GUESSES, PREVIEW_LINES = 2, 60  # likely files; lines of one
CALLER_LINES, LONG_CALLER = 24, 16  # lines of a caller that is shown whole; of a longer one
WHOLE_FILE_LINES, WHOLE_FILE = 200, 5_000  # lines, characters: a failing file that is shown whole
FUNCTION_LINES, SHORT_FUNCTION = 120, 16  # shown whole; shorter ones with lines around them
AROUND, DECORATORS = 1, 6  # lines around what sets a value; above a function
PREVIEW_CHARACTERS = 30_000  # of all previews: the message stays far below its tokens
TESTS = 4  # files
OUTCOME_EVENTS, REVIEW_WORDS, REASON = 5, 3, 1_000  # of an earlier case; characters of each

# What the history says of a case
BLAMED_FRAMES, BLAMED_DEFINITIONS = 8, 5  # places
SETTING_LINES = 120  # between lines that set what the failing one reads
HISTORIES, MANIFESTS = 3, 4  # files whose past is read
RECENT, RECENT_READ = 8, 20  # commits before the onset whose changes are read; commits listed
RENAMES, SHORTEST_RENAMED = 3, 3  # items; characters
DEPENDENCIES, CANDIDATES = 12, 8  # items
CHANGED_PATHS, DIFFS = 20, 12  # files of a deployment: named, and with their changes
FILE_DIFF, ALL_DIFFS = 1_500, 4_000  # characters of changes: of one file, of all

# Of a second look, of an answer, of an ending
FINDINGS, FINDING = 12, 500  # items of a list that are told, characters of each
ANSWER_ITEMS = 50  # of every list of an answer
LAST_LINE = 10_000_000  # line number
FIX_TURNS, FIX_WINDOWS = 5, 4  # of a fix asked for alone: turns; windows of source
FIX_LINES, QUOTED_LINES = 20, 5  # of a window: where it is to be made; around another quote
OWED_CAUSE = 4_000  # characters of its cause
ENDING = 300  # characters of an ending's detail

# An agent file
PROMPT = 60_000  # characters, with everything inherited
EXAMPLES, EXAMPLE = 10, 10_000  # examples; characters of each
