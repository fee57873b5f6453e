"""Which earlier lessons an error recalls: what is compared, its weight, and how sure that is."""
