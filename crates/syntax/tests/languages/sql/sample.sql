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

CREATE PROCEDURE audit.purge(before TIMESTAMP) LANGUAGE plpgsql AS $body$
BEGIN
    DELETE FROM audit.events WHERE received_at < before;
END;
$body$;

CREATE FUNCTION @extschema@.twice(n int) RETURNS int RETURN n * 2;
CREATE SCHEMA billing AUTHORIZATION owner;
CREATE SCHEMA AUTHORIZATION clerk;
CREATE ROLE reader LOGIN;
CREATE USER MAPPING FOR reader SERVER far;
CREATE DOMAIN region_name AS VARCHAR(32) CHECK (VALUE <> '');
CREATE POLICY own_rows ON audit.events USING (region = current_user);
CREATE AGGREGATE longest(text) (sfunc = longer, stype = text);
CREATE EXTENSION IF NOT EXISTS pgcrypto;
CREATE INDEX "By Day" ON "Events" ("day");
CREATE INDEX ON operators (team);

-- T-SQL.
CREATE TABLE [dbo].[Users] (
    [Id] INT NOT NULL
)
GO
CREATE TABLE [dbo].[Orders] ([Id] INT, [Total] MONEY)
GO
/* The orders of a user. */
CREATE OR ALTER PROCEDURE [dbo].[OrdersOf] @user INT, @limit INT = 10
AS
SET NOCOUNT ON;
SELECT * FROM [dbo].[Orders];
IF @limit > 0
BEGIN TRANSACTION
COMMIT;
GO
CREATE FUNCTION dbo.Total(@user INT) RETURNS MONEY AS
BEGIN
    DECLARE @sum MONEY;
    RETURN @sum;
END
GO
ALTER PROC dbo.OrdersOf @user INT AS SELECT 1
GO

-- MySQL.
DELIMITER //
CREATE DEFINER=`root`@`localhost` PROCEDURE move_rows(IN total INT)
BEGIN
    IF total > 0 THEN
        CREATE TEMPORARY TABLE moved (id INT);
    END IF;
END //
CREATE TRIGGER stamp BEFORE INSERT ON moved FOR EACH ROW SET NEW.at = NOW() //
DELIMITER ;
CREATE EVENT tidy ON SCHEDULE EVERY 1 DAY DO DELETE FROM moved;

-- Oracle.
CREATE OR REPLACE PACKAGE ledger AS
    PROCEDURE post(amount NUMBER);
    FUNCTION balance RETURN NUMBER;
END ledger;
/
CREATE OR REPLACE PACKAGE BODY ledger AS
    total NUMBER := 0;

    PROCEDURE post(amount NUMBER) IS
        step NUMBER;
    BEGIN
        total := CASE WHEN amount > 0 THEN total + amount ELSE total END;
    END post;

    FUNCTION balance RETURN NUMBER IS
    BEGIN
        RETURN total;
    END;
END ledger;
/
CREATE OR REPLACE PROCEDURE close_year(year NUMBER) IS
    left_over NUMBER;
BEGIN
    FOR r IN (SELECT 1 FROM dual) LOOP
        NULL;
    END LOOP;
END close_year;
/

CREATE PROCEDURE dbo.Try AS
BEGIN TRY
    SELECT CAST(1 AS INT);
END TRY
BEGIN CATCH
    THROW;
END CATCH
SELECT 2;
GO
CREATE TABLE dbo.Loose (a INT)
INSERT INTO dbo.Loose VALUES (1)
CREATE RULE keep AS ON DELETE TO rows DO INSTEAD NOTHING;
CREATE FUNCTION whole(x FLOAT) RETURNS INT RETURN CAST(x AS INT);
SELECT 1;
