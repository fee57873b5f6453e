"""Limits of the memory, each with its unit.

Values come from strangers and from documents that people edit, so nothing about their size is taken
for granted. Where a list is too long its newest entries are kept.
"""

# Entries of a lesson's lists.
MOST_NIGHTS = 60
MOST_ALIASES = 100
MOST_OUTCOMES = MOST_PROPOSED = 40
MOST_PROMOTED = 200
MOST_TAGS = MOST_RELATED = 20  # tags, learnings, related errors
MOST_RELATED_DOCUMENTS = 5  # patterns of a lesson, and similar errors
MOST_TAGS_COMPARED = 30  # tags in the index and in a search
MOST_WATCHED = 3  # files of frames, of a finding that did not settle its error
MOST_QUOTED = 10  # words of reviewers about one item
MOST_QUOTES_KEPT = 5  # of those, in a document

# Characters of a lesson's texts.
LONGEST_NAME = 200  # fingerprint or alias
LONGEST_MESSAGE = 200
LONGEST_TITLE = 120
LONGEST_WORDS = 500  # what one reviewer said, a line of a document's body
LONGEST_BECAUSE = 1_000
LONGEST_QUOTE = 2_000  # of code
MOST_EDITS_SHOWN = 20

# Notes, and searching them.
MOST_SECTIONS = 20  # of a document
LONGEST_SECTION = 64 * 1024  # characters that are read
MOST_ITEMS = 50  # problems, decisions, gotchas, and symptoms of a problem
LONGEST_ELEMENT = 4_000  # characters
LONGEST_INTENT = 2_000  # characters
MOST_INTENT_WORDS = 60  # different ones
LONGEST_TASK_SECTION = 20_000  # characters that are searched
MOST_SENTENCES = 400  # of a section that are compared

# Traces, as they are compared.
MOST_CAUSES, MOST_PLACES, MOST_FRAMES = 5, 24, 60  # kept of one error
MOST_FRAMES_READ = 400
LONGEST_FRAME = 120  # characters of a frame's name
MOST_TERMS = 300  # of one field

# Work of one search, or one night.
MOST_ASKED, MOST_CANDIDATES = 24, 60  # terms asked for, lessons compared in full
MOST_FILES_READ = 200  # a night, to see whether lessons still fit
