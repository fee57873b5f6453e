"""The bounds of this room, each with its unit."""

from datetime import timedelta

# Requests.
AT_ONCE = 4  # requests; New Relic advises at most 5 complex queries of one user at a time
QUERY_SECONDS = 60  # the longest that NRQL may run on every plan; its default is 5
DEADLINE = QUERY_SECONDS + 30.0  # seconds of one request, however slowly its bytes drip
LONGEST_WAIT = 60.0  # seconds; told to come back later than that, we do not wait at all
LONGEST_BODY = 16_000_000  # bytes of an answer
LONGEST_QUERY = 4_000  # bytes; the service refuses 4 KB
LONGEST_VALUE = 255  # characters of a name that are compared by the service
KEPT_SECONDS = 3_600.0  # for which the entities of a name are not asked for again

# Lists.
SEARCH_PAGES = 5  # of entities, of New Relic's length
PAGES = 3  # of the Errors Inbox, of New Relic's length
MOST_ENTITIES = 10  # more of one name do not fit into a query
MOST_FACETS = 5_000  # what LIMIT MAX means
MOST_REJECTS = 50  # rows that cannot be read and are listed
MOST_FRAMES = 500  # of a stack trace
MAX_HOURS = 168  # of a window whose errors are counted by the hour
HALVINGS = 3  # a window that is too much is read in up to 2 ** 3 parts

# Texts, in characters.
LONGEST_MESSAGE = 16_000
LONGEST_NAME = 4_096  # of a class or a transaction
LONGEST_FRAME = 2_000
LONGEST_CURSOR = 4_000  # that says where a list goes on
LONGEST_TITLE = 500  # of an entity, a function, a row that cannot be read
LONGEST_LABEL = 200  # of a host, a release, an id, New Relic's words in a message
LONGEST_PERSON = 80
LONGEST_LANGUAGE = 40

# Times.
LAG = timedelta(minutes=3)  # agents send once a minute, and New Relic needs its time
AROUND = timedelta(seconds=100)  # traces stand a little beside the events they belong to
LONGEST_TRACE_WINDOW = timedelta(days=8)  # New Relic keeps traces about so long
RELEASES_SINCE = timedelta(days=30)
