-- Connections that are stored: profiles are options that several tables share, tables are declared once for every query.
CREATE TABLE connection_profiles (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  connector TEXT NOT NULL,
  -- Options by name, as JSON. Secrets among them are shown to nobody.
  config TEXT NOT NULL,
  created_ms INTEGER NOT NULL
);

CREATE TABLE connection_tables (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  connector TEXT NOT NULL,
  profile_id TEXT,
  table_type TEXT NOT NULL CHECK (table_type IN ('source', 'sink', 'lookup')),
  config TEXT NOT NULL,
  schema TEXT NOT NULL,
  created_ms INTEGER NOT NULL
);

CREATE INDEX connection_tables_by_profile ON connection_tables (profile_id);
CREATE INDEX connection_tables_by_age ON connection_tables (created_ms DESC, id DESC);

-- Which pipelines name which tables. Written before the pipeline is: one that was never stored counts for nothing.
CREATE TABLE connection_table_pipelines (
  table_id TEXT NOT NULL,
  pipeline_id TEXT NOT NULL,
  PRIMARY KEY (table_id, pipeline_id)
) WITHOUT ROWID;

CREATE TRIGGER pipeline_leaves_tables AFTER DELETE ON pipelines
BEGIN
  DELETE FROM connection_table_pipelines WHERE pipeline_id = OLD.id;
END;
