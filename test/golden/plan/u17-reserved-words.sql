CREATE TABLE t ("timestamp" BIGINT, "group" TEXT, "window" TEXT, "order" INT, "end" INT) WITH (connector = 'single_file', path = 'in', format = 'json', type = 'source');
SELECT "group", "window", "order", "end", "timestamp" FROM t;
