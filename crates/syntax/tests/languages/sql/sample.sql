-- Schema of the relay's audit store.
CREATE SCHEMA IF NOT EXISTS audit;

CREATE TYPE audit.severity AS ENUM ('info', 'warning', 'critical');

-- One row an event that passed the relay.
-- Rows are never updated.
CREATE TABLE IF NOT EXISTS audit.events (
    id          BIGSERIAL PRIMARY KEY,
    region      VARCHAR(32) NOT NULL,
    received_at TIMESTAMP NOT NULL DEFAULT now(),
    payload     JSONB,
    CONSTRAINT region_known CHECK (region <> '')
);

/* Operators and what they may see. */
CREATE TABLE operators (
    login TEXT NOT NULL UNIQUE,
    team  INTEGER REFERENCES teams (id)
);

CREATE UNIQUE INDEX events_by_region ON audit.events (region, received_at DESC);

-- Events of the last day, newest first.
CREATE OR REPLACE VIEW recent_events AS
SELECT e.id, e.region, count(*) AS total
FROM audit.events e
JOIN operators o ON o.login = e.region
WHERE e.received_at > now() - INTERVAL '1 day'
GROUP BY e.id, e.region;

CREATE MATERIALIZED VIEW region_totals AS
SELECT region, sum(1) AS total FROM audit.events GROUP BY region;

-- How many events a region sent since a moment.
CREATE OR REPLACE FUNCTION audit.count_since(wanted TEXT, since TIMESTAMP)
RETURNS BIGINT
LANGUAGE sql
AS $$
    SELECT count(*) FROM audit.events WHERE region = wanted AND received_at >= since;
$$;

CREATE FUNCTION events_of(login TEXT) RETURNS SETOF audit.events AS $$
    SELECT * FROM audit.events;
$$ LANGUAGE sql;

CREATE FUNCTION team_sizes() RETURNS TABLE (team INTEGER, members BIGINT) AS $$
    SELECT team, count(*) FROM operators GROUP BY team;
$$ LANGUAGE sql;

CREATE FUNCTION touch_operator() RETURNS trigger AS $$
BEGIN
    NEW.seen_at := now();
    RETURN NEW;
END;
$$ LANGUAGE plpgsql;

CREATE TRIGGER operator_seen
BEFORE UPDATE ON operators
FOR EACH ROW EXECUTE FUNCTION touch_operator();

CREATE SEQUENCE ticket_numbers START WITH 1000;

ALTER TABLE operators ADD COLUMN seen_at TIMESTAMP;

INSERT INTO operators (login, team) VALUES ('ines', 1);
