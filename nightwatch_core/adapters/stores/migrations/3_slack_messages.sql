CREATE TABLE slack_messages (
    night TEXT NOT NULL,
    channel TEXT NOT NULL,
    part TEXT NOT NULL,  -- parent, a reply's error, follow-up
    ts TEXT NOT NULL DEFAULT '',  -- empty: sent, and unknown whether it arrived
    digest TEXT NOT NULL,
    sent REAL NOT NULL,  -- seconds since 1970
    PRIMARY KEY (night, channel, part)
)
