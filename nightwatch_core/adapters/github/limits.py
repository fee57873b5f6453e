"""The bounds of this room, each with its unit."""

# Time, in seconds
SILENCE = 30.0  # how long GitHub may say nothing
CONNECTING = 10.0
FETCHING = 900.0  # one fetch by git
FETCHING_SILENCE = 60  # in which git is sent less than 1,000 bytes a second
LONGEST_WAIT = 120.0  # who asks for more is asked another night
SHORT_WAIT = 0.5  # until the same is asked again, where GitHub names no time
SECONDARY_WAIT = 60.0  # as GitHub's documentation asks where it names none
DAY = 86_400
WRITE_SPACING = 1.0  # between two writes, as GitHub asks
SETTLING = 5.0  # until a write whose answer was lost shows, or never will
RENEWED_BEFORE = 1_200.0  # an App's token ends; git may fetch for 900

# Requests
ATTEMPTS = 2  # a lost read is asked for once more; steps are tried again by who runs them
LOOKS = 3  # for a lost write: who cannot tell whether it was made must not make it again
WRITES_AN_HOUR = 200  # GitHub allows 500 that create content
REQUESTS_TOGETHER = 5
PAGES = 100  # of one list
QUERY_PAGES = 20  # of merged pull requests
QUERY_PULLS = 25  # of one query: with 100 files and commits each that is 5,000 nodes
QUERY_FILES = 40  # of one query
OTHER_PAGES = 8  # of pull requests of everybody's, 25 each
OTHER_PULLS = 20  # whose changes are read, a request each; open ones first
OTHER_WORDS = 5  # comments and reviews of one, the last ones

# Answers and what is kept of them
ANSWER_BYTES = 32 * 1024 * 1024  # unpacked
ANSWER_SECONDS = 120.0
KEPT_ANSWER_BYTES = 4 * 1024 * 1024
KEPT_ANSWERS = 2_000
REASON_CHARACTERS = 300  # of GitHub's words
KEY_CHARACTERS = 20_000
LABEL_CHARACTERS = 50
COMMENT_CHARACTERS = 2_000

# Code and history
REPOSITORY_KIB = 5 * 1024 * 1024  # as GitHub counts it; larger ones are not cloned
READERS = 4  # commits whose readers are kept
MOMENT_COMMITS = 1_000  # looked through for the newest of a moment
RELEASES = 10  # each costs a request for its date
SEARCHED_FILES = 400  # where there are more, a search has to name a folder
FILE_VERSIONS = 500  # fetched to find out who wrote a line
CHANGED_PATHS = 1_000  # between two trees
EDITED_COMMITS = 50  # of a pull request, oldest first; ours is the first

# Our items
ITEMS_WITH_COMMENTS = 30  # those that changed last
COMMENTS = 20  # of one item, the last ones
FAILED_CHECKS, LOGS_READ = 10, 3  # of one commit: named; whose logs are tried until one is there
LOG_CHARACTERS, LOG_BYTES, LOG_SECONDS = 12_000, 64 * 1024 * 1024, 60.0  # of one job; all of it
PULLS_WITH_CHECKS = 10  # those that changed last; each costs two requests
HISTORY_READ = 500  # commits of the base in which applied patches are looked for
