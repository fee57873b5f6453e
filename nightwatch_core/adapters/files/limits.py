"""The bounds of this room, each with its unit."""

# Files
LINE_LIMIT = 8_388_608  # characters of one line
DOCUMENT_LIMIT = 134_217_728  # characters of one JSON document, which is read whole
CHUNK = 1_048_576  # characters of JSON, or bytes of a packed file, read at a time
PASTE_LIMIT = 4_000_000  # characters of one record that a person pasted
KEPT_DAYS = 7  # of what was piped in or pasted, which is kept as it came
HEAD = 65_536  # bytes looked at to tell what a file is
EXCERPT = 2_000  # characters kept of what could not be read
MAX_REJECTS = 1_000  # unreadable records kept with their text; further ones are counted
MAX_SENTENCES = 200  # about what is missing; further ones are counted
MAX_FILES = 10_000  # of one folder or pattern
MAX_MEMBERS = 10_000  # of one archive
MAX_PACKING = 4  # archives and compressions in each other
SPOOL = 16_777_216  # bytes of an archive inside another that are held in memory, not on disk

# One reading of all files
MOST_BYTES = 2_147_483_648  # read and unpacked
MOST_RECORDS = 2_000_000
MOST_RATIO = 500  # unpacked bytes by those on disk, once there are many
RATIO_FROM = 67_108_864  # unpacked bytes from which on the ratio counts

# Records
MAX_FIELDS = 2_000  # of one record
EVENT_ID = 12  # characters from which on an id is one of an event, and no number of a kind
MAX_DEPTH = 8  # objects in each other
MAX_WRAPS = 6  # lists and envelopes around a record
MAX_LINES = 2_000  # or frames of a stack trace that is a list
MESSAGE_LIMIT = 16_384  # characters of a message that are kept, half of them from its end
MAX_LINKS = 10  # exceptions of a chain
SOURCE_FRAMES, SOURCE_AROUND = 20, 3  # frames whose source is kept; lines above and below
SOURCE_LINE = 200  # characters of a line of source
STACK_LIMIT = 65_536  # characters of a stack trace that are kept, half of them from its end
NAME_LIMIT = 500  # characters of a class, transaction, host and the like
TRACES_KEPT = 8_192  # whose exception is known without parsing them again
MESSAGE_LINE = 2_000  # characters of a line in which that message stands

# Logs
HEADER_LINES = 12  # above the first frame, in which the exception may be named
REQUEST_LINES = 24  # above the first frame, in which the request may be named
GAP_LINES = 12  # between two parts of one stack trace
BLOCK_LIMIT = 1_048_576  # characters of one stack trace
LINE_READ = 4_000  # characters of a line that are looked at
TIME_REACH = 48  # characters of a line in which its time must begin
DOUBTS = 1_000  # records without class that wait until it is known what they are
MAX_STREAMS = 400  # whose last lines are kept; the one that was silent longest is ended first
ORDER_SAMPLE = 50  # lines whose times tell whether the newest stand first
BACKWARD_LINES, BACKWARD_TEXT = 10_000, 8_000_000  # lines, characters turned round at once
