-- Pipelines (what is wanted) and their jobs (what was observed). The API writes the first, the controller the second.
CREATE TABLE pipelines (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  query TEXT NOT NULL,
  parallelism INTEGER NOT NULL,
  checkpoint_interval_ms INTEGER NOT NULL,
  graph TEXT NOT NULL,
  plan_hash TEXT NOT NULL,
  settings TEXT NOT NULL,
  tags TEXT NOT NULL,
  desired_state TEXT NOT NULL CHECK (desired_state IN ('running', 'stopped')),
  stop_mode TEXT CHECK (stop_mode IN ('checkpoint', 'graceful', 'immediate')),
  stop_nonce TEXT,
  -- A restart is wanted while restart_nonce differs from the job's restart_done.
  restart_nonce TEXT,
  restart_mode TEXT CHECK (restart_mode IN ('checkpoint', 'graceful', 'immediate')),
  restart_reset INTEGER NOT NULL DEFAULT 0,
  -- When the controller looks next; NULL: only when somebody asks.
  next_poll_ms INTEGER,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  version INTEGER NOT NULL
);

CREATE INDEX pipelines_by_poll ON pipelines (next_poll_ms) WHERE next_poll_ms IS NOT NULL;
CREATE INDEX pipelines_by_age ON pipelines (created_ms DESC, id DESC);

CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  pipeline_id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  -- 0: none was ever allocated.
  generation INTEGER NOT NULL,
  -- Why the current generation exists.
  reason TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  committed_epoch INTEGER NOT NULL,
  -- Recoveries since the job was last healthy.
  restarts INTEGER NOT NULL,
  failure TEXT,
  start_ms INTEGER,
  finish_ms INTEGER,
  healthy_since_ms INTEGER,
  unreachable_since_ms INTEGER,
  -- The recovery that is due waits until then.
  retry_at_ms INTEGER,
  restart_done TEXT,
  -- Generations from this one on have to forget the state that older ones left.
  reset_from INTEGER,
  updated_ms INTEGER NOT NULL,
  version INTEGER NOT NULL
);

-- Why generations ended badly; what rows did wrong is kept by leader and log.
CREATE TABLE job_errors (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  report TEXT NOT NULL,
  UNIQUE (job_id, generation)
);
