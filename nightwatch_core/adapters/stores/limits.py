"""The bounds of this room, each with its unit."""

# Time, in seconds
PATIENCE = 30.0  # until another writer of the same place, or of the database, has to be done
PUBLISHING_PATIENCE = 120.0  # until another publisher has to be done

# Documents
DOCUMENT_BYTES = 1024 * 1024
AGENT_BYTES = 256 * 1024
TASK_FILES = 10_000
TASK_FOLDERS = 1_000  # in the folder of task files
KEPT_LESSONS = 1_000  # that stay in memory
ARCHIVED_LESSONS = 20  # of one short name, that are looked at

# Ledger and transcripts
REASON_CHARACTERS = 500
TRANSCRIPT_BYTES = 8_000_000
HEAD_CHARACTERS, TAIL_CHARACTERS = 14_000, 6_000  # kept of a longer text
ARGUMENT_LEVELS = 20  # of a tool's arguments
UNNAMED_DAYS = 30  # lists of what was sent outside nights

# Code that was read, and results of Prefect
CACHED_CHARACTERS = 64_000_000  # of JSON whose values stay in memory
NAMED_FILES = 2_000  # of what a reader read; the rest is counted
RECORD_DAYS = 30  # since a record was last used
RECORD_BYTES = 512 * 1024 * 1024  # of all records; those used least recently go first

# The state folder
NIGHT_BYTES = 16 * 1024 * 1024  # that are left on its disk when a night begins

# Batches
BATCH_BYTES = 512 * 1024 * 1024  # of one file: 100,000 errors have some 100 MB
COLLECTED_DAYS = 100  # between a batch that was collected, and one that makes it go: what was
# said of an error holds as long as a lesson, and is not asked again meanwhile
COLLECTED_ERRORS = 100_000  # of all collected batches; the oldest of them go first

BUNDLE_PACKED = 64 * 2**20  # bytes of a bundle that are read
BUNDLE_TEXT = 256 * 2**20  # bytes that it may unpack to
BUNDLE_ROOM = 500 * 2**20  # bytes of all bundles, beyond which the oldest go
