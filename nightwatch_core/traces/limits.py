"""The bounds of this room, each with its unit."""

TEXT_CHARACTERS = 262_144  # read of one text; the middle of a longer one is left out
LINE_CHARACTERS = 2_000
LINES = 20_000  # of one text, likewise
LINE_PREFIXES = 6  # that a line is freed of
ESCAPED_CHARACTERS = 20_000  # of a line in which the first escaped newline is looked for
JOINED_CHARACTERS = 131_072  # of a trace on one line
WRAP_WIDTHS = range(60, 201)  # characters at which lines are broken
PREFIX_CHARACTERS = 200  # of one that a text has of its own
FRAMES = 500  # of all links together
LINKS = 50  # of one chain
CHAINS = 20  # a text with more is a log; its first errors are read
HEADER_LINES = 200  # how far above the first frame the exception may stand: messages are long
PATH_CHARACTERS = 1_000
MAPPED_FRAMES = 100  # of a bundle, looked up in its source map

# Source that a record prints around its failing lines
EXCERPTS, EXCERPT_LINES = 200, 60  # of one text; lines of each
FITTED_FRAMES, FITTED_LINE = 100, 1_000  # frames compared with the code; characters of a line
SHORTEST_LINE = 6  # characters of a line that make it more than an `end` or a `}`
SHORTEST_CUT = 10  # characters left of a line that was cut
EXCERPT_GAP = 12  # lines between an excerpt and the place it belongs to

# As an analyst is shown a trace
PRINTED_READ = 100_000  # characters of a printed trace that are looked at
PRINTED_SHOWN = 6_000  # characters
ROW_CHARACTERS = 1_000
OWN_FRAMES_LISTED = 5  # where the printed trace is cut
LIBRARY_ENDS = 4  # frames at either end of a run of libraries, where no frame is ours
FOLDED_ROWS = 1  # more rows are worth a note instead
SAME_ROWS = 3  # as many of another trace are worth no note instead
SAME_FRAME = 2  # times a frame is shown that comes again and again
