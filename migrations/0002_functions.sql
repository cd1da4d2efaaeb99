-- Functions of the user's own that every pipeline may call: the text of a CREATE FUNCTION each, by its name.
CREATE TABLE udfs (
  id TEXT PRIMARY KEY,
  prefix TEXT NOT NULL,
  name TEXT NOT NULL UNIQUE,
  language TEXT NOT NULL,
  definition TEXT NOT NULL,
  description TEXT,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL
);

-- Those that were sent with a pipeline, as JSON; its graph holds what it calls, so nothing reads them but people.
ALTER TABLE pipelines ADD COLUMN udfs TEXT NOT NULL DEFAULT '[]';
