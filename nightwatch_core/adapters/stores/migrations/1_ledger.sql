CREATE TABLE ledger (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    payload_digest TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('intent', 'act', 'done', 'refused', 'unknown')),
    receipt TEXT NOT NULL DEFAULT '',  -- JSON
    night TEXT NOT NULL,
    updated TEXT NOT NULL  -- ISO 8601, UTC
)
