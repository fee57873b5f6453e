CREATE TABLE nights (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    started TEXT NOT NULL,
    finished TEXT,
    record TEXT NOT NULL DEFAULT ''  -- JSON
)
