"""How much of an error is told at first sight, how much is asked at once: each with its unit."""

MESSAGE, CLASS, TRANSACTION, RELEASE = 1_200, 200, 200, 100  # characters
FRAMES, FRAME = 8, 240  # of the innermost exception and ours; characters of each
CAUSES = 4  # exceptions of a chain
ANSWER_TOKENS = 2_000  # of one answer, thinking included, where the agent file says nothing
USUAL_ANSWER_TOKENS = 250  # what an answer is reckoned with where its most is not meant
TRACED = 2_000  # errors whose traces are read for the question; the rest is asked without
ERRORS = 20_000  # errors of one night's batches
TENFOLD = 10  # occurrences or users, in times of before, that make an error another one
WAITING_DAYS = 30  # until what was flagged, and had no turn, is forgotten
