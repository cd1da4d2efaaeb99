-- What lists show of a pipeline's tables, so that they need not read its graph: the connectors, each once.
ALTER TABLE pipelines ADD COLUMN connectors TEXT NOT NULL DEFAULT '{"sources":[],"sinks":[]}';
UPDATE pipelines SET connectors = json_object(
  'sources', json((SELECT json_group_array(name) FROM (
    SELECT DISTINCT json_extract(value, '$.spec.connector.connector') AS name
    FROM json_each(pipelines.graph, '$.operators') WHERE json_extract(value, '$.spec.tag') = 'source'))),
  'sinks', json((SELECT json_group_array(name) FROM (
    SELECT DISTINCT json_extract(value, '$.spec.connector.connector') AS name
    FROM json_each(pipelines.graph, '$.operators') WHERE json_extract(value, '$.spec.tag') = 'sink'))));

-- Of a preview: when somebody last looked. NULL: it is a pipeline to keep, and lists show it.
ALTER TABLE pipelines ADD COLUMN watched_ms INTEGER;

-- The pipelines in the order in which they last changed, deleted ones included: what has changed since is found without
-- reading the others.
CREATE TABLE changes (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  pipeline_id TEXT NOT NULL UNIQUE
);
INSERT INTO changes (pipeline_id) SELECT id FROM pipelines ORDER BY created_ms;

CREATE TRIGGER pipeline_created AFTER INSERT ON pipelines WHEN NEW.watched_ms IS NULL
BEGIN
  DELETE FROM changes WHERE pipeline_id = NEW.id;
  INSERT INTO changes (pipeline_id) VALUES (NEW.id);
END;

CREATE TRIGGER pipeline_changed AFTER UPDATE OF version ON pipelines WHEN NEW.watched_ms IS NULL
BEGIN
  DELETE FROM changes WHERE pipeline_id = NEW.id;
  INSERT INTO changes (pipeline_id) VALUES (NEW.id);
END;

CREATE TRIGGER pipeline_deleted AFTER DELETE ON pipelines WHEN OLD.watched_ms IS NULL
BEGIN
  DELETE FROM changes WHERE pipeline_id = OLD.id;
  INSERT INTO changes (pipeline_id) VALUES (OLD.id);
END;

CREATE TRIGGER job_changed AFTER UPDATE OF version ON jobs
WHEN EXISTS (SELECT 1 FROM pipelines WHERE id = NEW.pipeline_id AND watched_ms IS NULL)
BEGIN
  DELETE FROM changes WHERE pipeline_id = NEW.pipeline_id;
  INSERT INTO changes (pipeline_id) VALUES (NEW.pipeline_id);
END;
