"""The bounds of this room, each with its unit."""

# Seconds.
CONNECTING = 10.0
SILENCE = 240.0  # without a word; compiling a new schema may take 180
ASKING = 30.0  # for what the model can do
COUNTING = 10.0  # for what was cleared, where an answer does not say
LONGEST_WAIT = 60.0  # who asks for more patience is asked again by a later night
PATIENCE = 15.0  # that a call waits for another one's response to begin
WARM = 240.0  # the service keeps for 300 what was not used, anew with every use

# An answer, a batch's results apart.
ANSWER_BYTES = 16 * 1024 * 1024  # unpacked; 64,000 tokens, streamed one by one, take 9
ANSWER_SECONDS = 1_800.0

# Tokens.
THINKING = {"low": 4_000, "medium": 8_000, "high": 12_000}  # by the effort that is wanted
LEAST_THINKING = 1_024  # the service's own bound
LEAST_DECAYED = 2_000  # of a budget for thinking that falls
LEAST_COMPACTED = 50_000  # the service's own bound

# Shares.
SHARE = 0.5  # of the time a call has that it may wait: the rest is for the call itself
DECAYED = 0.25  # of the budget for thinking that is left at the end
FULL = 0.7  # of a context that may be used before it is summarised

# Numbers of things.
UNDECAYED = 2  # first turns with the whole budget for thinking
LOOK_BACK = 18  # blocks; the cache is found up to 20 blocks before a marker
MOST_STRICT = 20  # tools of a request
MOST_LEFT_OUT = 24  # properties, of all its schemas, that need not be there
LONGEST_WORDS = 300  # characters of the service's words

# Batches.
LISTING = 60.0  # seconds for one page of the service's list, or for one batch's state
SUBMITTING = 900.0  # seconds for a batch to be sent and taken
COLLECTING = 1_800.0  # seconds for all of its results to be read once
OVERDUE = 3_600.0  # seconds after which a batch that should have expired is called late
MOST_REQUESTS = 100_000  # of a batch: the service's own bound
MOST_BATCH_BYTES = 100_000_000  # the service takes 256 MB; a batch is whole in memory while sent
PAGE = 100  # batches of one page of the list
MOST_PAGES = 50
MOST_READS = 20  # of the results of one batch, where they break off again and again
MOST_LINE = 2_000_000  # bytes of one result
MEAN_LINE = 50_000  # bytes that results may have on average
LONGEST_CAUSE = 2_000  # characters of a likely cause
