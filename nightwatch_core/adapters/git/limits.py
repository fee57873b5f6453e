"""The bounds of this room, each with its unit."""

GIT_SECONDS = 60.0  # for one command, where nothing else is said
QUICK_SECONDS = 20.0  # for a search or a blame
BLOB_SECONDS = 30.0  # for one file's content
OUTPUT_BYTES = 64 * 1024 * 1024  # of one command
SEARCH_BYTES = 32 * 1024 * 1024  # of one search's output
COMPLAINT_BYTES = 2_000
FILE_BYTES = 2 * 1024 * 1024  # larger files are data, not source
SNIFFED_BYTES = 8_000  # looked at to tell text from binary; git does the same
LINE_CHARACTERS = 300  # of a line that is shown
TITLE_CHARACTERS = 300  # of a pull request
NAME_CHARACTERS = 100  # of an author
QUERY_CHARACTERS = 1_000
PATH_CHARACTERS = 1_000
HITS = 500  # of one search
EXCLUDED_FILES = 100  # too large to be searched, the largest first
CHANGED_FILES = 100  # of one draft
RELEASES = 100
COMMITS_READ = 5_000  # of a history, newest first
PULLS = 200
PULL_FILES = 3_000  # GitHub's own limit
PULL_COMMITS = 250  # likewise
PULL_AUTHORS = 3
