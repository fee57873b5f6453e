"""The grammar that synthetic nights are told in: subjects, and defects in several tellings each."""

from typing import NamedTuple

# What a language calls nothing, its file ending, its folders, and its classes that say little.
LANGUAGES: dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "ruby": (
        "nil",
        "rb",
        ("app/models", "app/services", "app/jobs", "lib"),
        ("NoMethodError", "KeyError", "ArgumentError", "StandardError"),
    ),
    "python": (
        "None",
        "py",
        ("shop", "shop/services", "shop/tasks", "shop/api"),
        ("AttributeError", "KeyError", "ValueError", "TypeError"),
    ),
    "javascript": (
        "undefined",
        "ts",
        ("src/models", "src/services", "src/jobs", "src/api"),
        ("TypeError", "RangeError", "Error", "ReferenceError"),
    ),
    "java": (
        "null",
        "java",
        ("src/main/java/shop", "src/main/java/shop/service", "src/main/java/shop/batch"),
        ("java.lang.NullPointerException", "java.lang.IllegalStateException"),
    ),
    "go": (
        "nil",
        "go",
        ("internal/shop", "internal/jobs", "pkg/store"),
        ("runtime.Error", "*errors.errorString"),
    ),
}


class Subject(NamedTuple):
    """Something a defect can be about: phrases for it, words of its name, a method, values."""

    said: tuple[str, ...]
    words: tuple[str, str]
    method: str
    values: tuple[str, ...]
    who: tuple[str, ...]


def _subject(said: str, words: str, method: str, values: str, who: str) -> Subject:
    first, second = words.split()
    return Subject(
        tuple(said.split("|")),
        (first, second),
        method,
        tuple(values.split("|")),
        tuple(who.split("|")),
    )


SUBJECTS: tuple[Subject, ...] = (
    _subject(
        "exchange rate|currency rate", "rate table", "fetch", "LU|CHF|a new country", "buyers"
    ),
    _subject("shipping label|parcel label", "label printer", "render", "EU|Norway", "the depot"),
    _subject("refund|repayment", "refund ledger", "book", "partial refunds|zero", "accountants"),
    _subject("coupon|voucher", "coupon book", "redeem", "expired codes|SUMMER", "guests"),
    _subject("invoice|bill", "invoice builder", "total", "reverse charge|net prices", "companies"),
    _subject("avatar|profile picture", "avatar store", "resize", "HEIC|large files", "new members"),
    _subject(
        "session|login session", "session vault", "restore", "old cookies", "signed-out users"
    ),
    _subject("stock level|inventory count", "stock keeper", "reserve", "backorders", "warehouses"),
    _subject("search index|product index", "index feeder", "push", "deleted products", "editors"),
    _subject("subscription|plan", "plan switcher", "upgrade", "yearly plans|trials", "subscribers"),
    _subject(
        "webhook|callback", "webhook router", "dispatch", "retries|unknown topics", "partners"
    ),
    _subject("address|postal address", "address book", "normalise", "PO boxes|Ireland", "couriers"),
    _subject("tax rule|VAT rule", "tax engine", "apply", "digital goods|B2B", "bookkeepers"),
    _subject("newsletter|mailing", "mail composer", "compose", "umlauts|emoji", "marketing"),
    _subject("permission|role", "role resolver", "grant", "archived teams", "administrators"),
    _subject("calendar entry|appointment", "slot planner", "book_slot", "DST days", "doctors"),
    _subject("audit trail|audit entry", "audit writer", "append", "bulk edits", "auditors"),
    _subject("price list|tariff", "tariff reader", "lookup", "tiered prices", "resellers"),
    _subject("gift card|gift balance", "gift purse", "debit", "split payments", "shoppers"),
    _subject("translation|locale text", "phrase catalog", "translate", "pt-BR|plurals", "visitors"),
    _subject("export file|CSV export", "export runner", "stream", "wide tables", "analysts"),
    _subject("review|rating", "review board", "publish", "withdrawn products", "moderators"),
    _subject("bank account|IBAN", "account checker", "verify", "Malta|test banks", "treasurers"),
    _subject("queue message|job payload", "payload codec", "decode", "version 1", "workers"),
    _subject("thumbnail|preview image", "thumb maker", "crop", "animated images", "photographers"),
    _subject("delivery slot|time window", "route solver", "assign", "holidays", "drivers"),
    _subject("loyalty point|bonus point", "point counter", "accrue", "returns", "regulars"),
    _subject("chat thread|conversation", "thread loader", "page", "muted threads", "agents"),
)

# {ident} a name in the code, {said} the subject, {other} the subject in other words, {value},
# {who}, {nil} the language's word for nothing, {file} where it is.
DEFECTS: dict[str, tuple[str, ...]] = {
    "missing entry": (
        "The {said} data has no entry for {value}, so {ident} gives back {nil} and the caller "
        "breaks.",
        "{ident} does not know {value}: nobody seeded that {other}.",
        "For {value} there is no {other} on file; the lookup in {file} answers {nil} and is used "
        "unchecked.",
        "When {who} ask for {value}, {ident} finds nothing, because the {said} was never added.",
        "Missing {said} for {value}. The code in `{ident}` assumes that every key exists.",
    ),
    "unguarded nothing": (
        "{ident} is called with {nil} when {who} have no {said}.",
        "A {other} may be absent for {who}, but `{ident}` reads from it without a check.",
        "The optional {said} is {nil} here; {file} never guards against that before {ident}.",
        "{who} without a {other} reach {ident}, which expects one to be there.",
        "There is no null check around the {said} in {ident}.",
    ),
    "renamed field": (
        "The field behind {ident} was renamed, and the {said} code still asks for the old name.",
        "{file} uses the former attribute of the {other}; after the rename `{ident}` is gone.",
        "`{ident}` no longer exists under this name since the {said} columns were cleaned up.",
        "An old name of the {other} survived the renaming in {file}, so {ident} cannot be found.",
    ),
    "race": (
        "Two workers run {ident} on one {said} at once and the second finds it already changed.",
        "Without a lock around {ident}, concurrent requests of {who} overwrite the same {other}.",
        "Check and write in `{ident}` are not atomic: parallel updates of a {said} collide.",
        "The {other} is read, then written without a transaction in {file}; two processes "
        "interleave in {ident}.",
    ),
    "type mix-up": (
        "{ident} receives text where a number is expected, as the {said} comes straight from the "
        "form.",
        "The {other} arrives as a string for {value}; `{ident}` adds it to an integer.",
        "{file} never converts the raw {said} before {ident} calculates with it.",
        "Input of {who} reaches {ident} unparsed, hence arithmetic on a {other} that is text.",
    ),
    "stale cache": (
        "{ident} serves a cached {said} that was deleted meanwhile.",
        "The cache key of the {other} lacks the version, so `{ident}` hands out outdated objects.",
        "After an update the cached {said} is not invalidated; {ident} works on the stale copy.",
        "Entries for {value} outlive their {other} in the cache that {file} reads through {ident}.",
    ),
    "unset setting": (
        "The setting that {ident} needs is empty in production, so no {said} can be made.",
        "`{ident}` builds its {other} from an environment variable that the new pods lack.",
        "Configuration for the {said} was not carried over; {file} calls {ident} with blanks.",
        "No value is configured for the {other} service, which {ident} takes for granted.",
    ),
    "unbounded query": (
        "{ident} loads every {said} of {who} into memory at once.",
        "The query behind `{ident}` has no limit, and {value} make it fetch all {other} rows.",
        "{file} materialises the whole {said} table in {ident} instead of batches.",
        "For large {who} the unpaginated {other} query of {ident} exhausts the heap.",
    ),
    "bad encoding": (
        "{ident} treats the {said} as ASCII and fails on {value}.",
        "Bytes of a {other} are decoded with the wrong charset in `{ident}`.",
        "{file} assumes UTF-8, but the {said} from {who} is Latin-1, which breaks {ident}.",
    ),
    "date arithmetic": (
        "{ident} adds a day in local time and skips one for {value}.",
        "The {said} is compared without its time zone, so `{ident}` sees an end before its start.",
        "Naive and aware timestamps of the {other} meet in {ident}.",
        "{file} computes the range of a {said} in UTC while {who} mean local days; {ident} rejects "
        "it.",
    ),
    # Told on held-out nights only.
    "lost migration": (
        "The migration that {ident} relies on never ran, so the {said} column is not there.",
        "`{ident}` selects a column of the {other} that this database does not have yet.",
        "Code for the {said} was deployed before its schema change; {file} fails in {ident}.",
        "Table of the {other} is one version behind what {ident} expects.",
    ),
    "wrong branch": (
        "{ident} takes the path for {value} even where the {said} is of another kind.",
        "The condition in `{ident}` is inverted: {who} end up where no {other} may be.",
        "A case for {value} is missing in {file}, so {ident} falls through with the {said}.",
        "No branch of {ident} handles a {other} like {value}.",
    ),
    "double submit": (
        "{who} send the form twice and {ident} creates the {said} a second time.",
        "`{ident}` is not idempotent: a retried request violates the unique key of the {other}.",
        "The {said} exists already when {file} runs {ident} again after a client retry.",
        "Repeated calls of {ident} for one {other} hit the uniqueness constraint.",
    ),
}
RESERVED = ("lost migration", "wrong branch", "double submit")
ASIDES = (
    "",
    "",
    "",
    "Seen since the last deploy.",
    "Only some requests are affected.",
    "The stack trace ends there.",
    "Tests do not cover this path.",
    "A guard would avoid the exception.",
    "It happens in production only.",
)
OUTSIDE_SAYINGS = (
    "The {vendor} API did not answer within its timeout.",
    "Connection to {vendor} was reset by the remote side.",
    "{vendor} returned 503 for a while; nothing in our code is wrong.",
    "DNS for {vendor} could not be resolved during the incident.",
)
VENDORS = ("Stripe", "Mailgun", "DHL", "S3", "Twilio", "Salesforce", "the tax office", "Algolia")
THEMES = (
    ("n-plus-one", "pagination"),
    ("locale", "number-format"),
    ("feature-flag", "rollout"),
    ("memory", "batching"),
    ("idempotency", "retry"),
    ("time-zone", "dst"),
    ("serialization", "legacy-format"),
    ("multi-tenant", "scoping"),
)
_OTHER_TAGS = (
    "validation missing-data null-check configuration data-integrity api-contract edge-case input "
    "schema regression concurrency performance encoding cache auth"
)
OTHER_TAGS = tuple(_OTHER_TAGS.split())
ACTIONS = ("show", "create", "update", "index", "destroy", "sync", "import", "export", "retry")
_AREAS = (
    "orders checkout carts invoices refunds parcels accounts profiles catalog reports billing "
    "teams partners imports exports feeds admin members devices sessions alerts bookings plans"
)
AREAS = tuple(_AREAS.split())
