"""Pairs of learnings labelled by hand: the same said in other words, and near ones that are not."""

SAME = (
    (
        "Missing database indexes cause timeouts. Always run EXPLAIN ANALYZE on queries hitting "
        "large tables.",
        "Database queries timing out under load. Missing index on users.organization_id. Run "
        "EXPLAIN ANALYZE on new queries hitting large tables.",
    ),
    (
        "NextJS middleware runs on edge. Can't use Node.js APIs like `fs` or `path` in "
        "middleware. Use edge-compatible alternatives.",
        "NextJS middleware runs on edge. Can't use Node.js APIs like `fs`",
    ),
    (
        "Redis over PostgreSQL for sessions. When sub-ms lookup needed and revocation required, "
        "Redis wins over PostgreSQL (15ms latency) or JWT (no revocation).",
        "Used Redis for session storage instead of PostgreSQL. Need sub-ms lookup; PostgreSQL "
        "added 15ms latency; JWT couldn't support revocation.",
    ),
    (
        "Connection pooling leaks without try-finally. Wrap pooled connections in try-finally "
        "with explicit close().",
        "Pooled connections leak without try-finally. Close connections explicitly in a finally.",
    ),
    (
        "Prisma client must be regenerated after schema changes, in development too.",
        "Prisma requires regenerating client after schema changes, even in dev",
    ),
    (
        "Sidekiq jobs are enqueued before the transaction commits. Use after_commit callbacks "
        "to enqueue jobs.",
        "Sidekiq job was enqueued before its transaction was committed. Enqueue jobs in an "
        "after_commit callback.",
    ),
    (
        "Orders may have no quote when imported. Check that the quote is present before invoicing.",
        "Imported orders have no quote. Check for a quote before an order is invoiced.",
    ),
    (
        "Do not retry payments on timeouts: the charge may have been made. Use idempotency keys.",
        "Never retry a payment after a timeout, the charge may be made already. Send an "
        "idempotency key.",
    ),
    (
        "Use UTC in the database. Time zones are converted in the presentation layer only.",
        "The database keeps UTC. Convert time zones only in presentation.",
    ),
    (
        "Background jobs run twice at times: make them idempotent.",
        "Jobs in the background can run twice. Make every job idempotent.",
    ),
    (
        "Elasticsearch index lags behind writes. Refresh the index in tests before searching.",
        "In tests, refresh the Elasticsearch index before you search; it lags behind writes.",
    ),
    (
        "Feature flags are cached for five minutes per process",
        "Feature flags: each process caches flags for five minutes",
    ),
    (
        "The currency of an amount is never assumed. Pass Money objects, not numbers.",
        "Never assume an amount's currency. Pass Money objects rather than numbers.",
    ),
)
OTHER = (
    (
        "Missing database indexes cause timeouts. Always run EXPLAIN ANALYZE on queries hitting "
        "large tables.",
        "Missing database migrations cause errors at boot. Always run pending migrations before "
        "deploying.",
    ),
    (
        "Missing index on users.organization_id. Add a composite index.",
        "Missing validation of users.organization_id. Add a foreign key.",
    ),
    (
        "Redis over PostgreSQL for sessions. Sub-ms lookups are needed.",
        "PostgreSQL over Redis for the job queue. Jobs have to be enqueued in the transaction.",
    ),
    (
        "Used Redis for session storage. Lookups under a millisecond are needed.",
        "Used Redis for rate limiting. Counters expire by themselves.",
    ),
    (
        "Connection pooling leaks without try-finally. Wrap pooled connections.",
        "The connection pool is too small for the worker count. Set its size to the threads.",
    ),
    (
        "Prisma requires regenerating client after schema changes",
        "Prisma requires a shadow database for migrations in development",
    ),
    (
        "NextJS middleware runs on edge. Can't use Node.js APIs like `fs`.",
        "NextJS image optimisation runs on the server. It needs the `sharp` package.",
    ),
    (
        "Retry requests to the shipping service on timeouts",
        "Never retry requests to the payment service on timeouts",
    ),
    (
        "Retry on 429 with the Retry-After header",
        "Never retry on 429 with the Retry-After header",
    ),
    (
        "Imported orders have no quote. Check for a quote before invoicing.",
        "Imported customers have no address. Check for an address before shipping.",
    ),
    (
        "Sidekiq jobs run twice. Make them idempotent.",
        "Sidekiq arguments go through JSON. Pass ids, no symbols.",
    ),
    (
        "Use UTC in the database.",
        "Use UUIDs as primary keys in the database.",
    ),
    (
        "Elasticsearch index lags behind writes. Refresh it in tests.",
        "Elasticsearch mapping cannot be changed in place. Reindex into a new index.",
    ),
    (
        "KeyError in the cart when a product is withdrawn. Look prices up with a default.",
        "KeyError in the checkout when a voucher has expired. Look vouchers up at payment.",
    ),
    (
        "Feature flags are cached for five minutes per process",
        "Sessions are cached for thirty minutes per user",
    ),
)

# Written after measure and threshold were settled, to see how they do on pairs they never saw.
HELD_OUT_SAME = (
    (
        "Webhooks arrive out of order. Compare the event's timestamp before updating a record.",
        "Webhook events can arrive out of order, so compare timestamps before you update records.",
    ),
    (
        "Large CSV exports exhaust memory. Stream rows instead of building the whole file.",
        "Exporting a large CSV exhausts memory: stream its rows, don't build the file whole.",
    ),
    (
        "Chose cursor pagination over offsets. Offsets get slow beyond 100,000 rows.",
        "Cursor pagination instead of offset pagination. Offsets are slow past 100,000 rows.",
    ),
    (
        "Celery tasks must not receive model instances; pass primary keys.",
        "Pass primary keys to Celery tasks, never model instances.",
    ),
    (
        "Docker layer caching breaks when the lock file is copied after the source.",
        "Copying the lock file after the source breaks Docker's layer caching.",
    ),
    (
        "JSON columns are not tracked for in-place mutation. Assign a new dict.",
        "SQLAlchemy does not notice in-place changes of JSON columns; assign a new dict instead.",
    ),
    (
        "Decimal amounts lose precision when parsed as floats. Parse money with Decimal.",
        "Money parsed as float loses precision. Use Decimal to parse amounts.",
    ),
    (
        "The staging certificate expires every 90 days and renewal is manual.",
        "Certificates on staging are renewed by hand and expire after 90 days.",
    ),
)
HELD_OUT_OTHER = (
    (
        "Webhooks arrive out of order. Compare the event's timestamp before updating a record.",
        "Webhooks are signed. Verify the signature before parsing the event.",
    ),
    (
        "Large CSV exports exhaust memory. Stream rows instead of building the whole file.",
        "Large CSV imports time out. Split the file into batches.",
    ),
    (
        "Chose cursor pagination over offsets. Offsets get slow beyond 100,000 rows.",
        "Chose Kafka over SQS for events. Consumers replay from offsets.",
    ),
    (
        "Celery tasks must not receive model instances; pass primary keys.",
        "Celery tasks must set a time limit; workers hang otherwise.",
    ),
    (
        "Docker layer caching breaks when the lock file is copied after the source.",
        "Docker builds fail when the lock file is missing.",
    ),
    (
        "JSON columns are not tracked for in-place mutation. Assign a new dict.",
        "JSON columns are not indexed by default. Add a GIN index.",
    ),
    (
        "Parse money with Decimal.",
        "Parse dates with a time zone.",
    ),
    (
        "Enable gzip on the CDN for JSON responses",
        "Disable gzip on the CDN for event streams",
    ),
)
