/**
 * Every bound and default in one place, with the relations between them asserted.
 * Sizes in bytes, times in milliseconds, unless the name says otherwise.
 */
import { assert } from './assert.ts';

export const LIMITS = {
  /** SQL text of one pipeline. */
  queryBytesMax: 256 * 1024,
  /** Nesting of expressions and queries. */
  queryDepthMax: 128,
  /** Height of a syntax tree, where `a + b + c` counts for each sign: what walks a tree may recurse this far. */
  queryHeightMax: 512,
  /** Variables of a pattern, and instructions of the program it becomes. */
  patternVariablesMax: 64,
  patternProgramMax: 1_000,
  /** Ways to match rows that are open at once, in one partition. */
  matchThreadsMax: 10_000,
  /** Errors, and warnings, that are told of one text; of the others how many there are. */
  findingsToldMax: 200,
  parallelismMax: 64,
  /** Windows of one query that hold the same row. */
  windowsPerRowMax: 100_000,
  /** Rows of one batch inside a host. */
  batchRowsDefault: 8192,
  batchRowsMax: 8192,
  batchBytesMax: 1024 * 1024,
  /** What rows may make in one piece of work, before others have their turn; one row may make more. */
  unitRowsMax: 64 * 1024,
  unitBytesMax: 16 * 1024 * 1024,
  /** How long a source waits to fill a batch. */
  lingerMs: 10,
  /** What a sink has handed over to be stored and nobody has confirmed, before rows wait: files and their bytes. */
  stagingFilesMax: 64,
  stagingBytesMax: 32 * 1024 * 1024,
  /** What an `http` source has read ahead, of all its partitions together: as far as rows are small. */
  readAheadBytesMax: 16 * 1024 * 1024,
  /** Queued input of one channel before its sender is held back. */
  channelBytesMax: 2 * 1024 * 1024,
  /** One message between hosts. */
  frameBytesMax: 4 * 1024 * 1024,
  /** Rows of one frame, as columns; a single row may weigh more. */
  frameRowBytesMax: 2 * 1024 * 1024,
  /** A text or list that a function or an aggregate makes; it travels in one frame. */
  valueBytesMax: 3 * 1024 * 1024,
  /** What functions make of a batch before it is cut in two and computed again. */
  evaluationBytesMax: 32 * 1024 * 1024,
  /** One HTTP request of rows. */
  ingestBytesMax: 16 * 1024 * 1024,
  ingestRowBytesMax: 1024 * 1024,
  /** Bytes a log partition holds before it answers BACKPRESSURE. */
  logBytesMax: 2 * 1024 * 1024 * 1024,
  /** One blob or row in a Durable Object's SQLite; local runtimes do not enforce it, we do. */
  sqliteValueBytesMax: 2_000_000,
  sqliteParametersMax: 100,
  /** Keyed state of one host. */
  stateBytesMax: 64 * 1024 * 1024,
  /** Keyed state below this is written whole at every checkpoint. */
  stateLayerBytesMin: 256 * 1024,
  /** Files laid over each other before the state is written whole again. */
  stateLayersMax: 16,
  /** One state file, roughly: encoding and hashing it is one piece of work between batches. */
  statePartBytesMax: 4 * 1024 * 1024,
  checkpointIntervalDefaultMs: 10_000,
  checkpointIntervalMinMs: 1_000,
  checkpointIntervalMaxMs: 86_400_000,
  /** Attempts of one epoch before the generation fails. */
  checkpointAttemptsMax: 3,
  checkpointTimeoutMs: 60_000,
  publishTimeoutMs: 60_000,
  commitTimeoutMs: 120_000,
  redoTimeoutMs: 120_000,
  startTimeoutMs: 60_000,
  heartbeatIntervalMs: 2_000,
  heartbeatTimeoutMs: 30_000,
  /** Leader alarm: revives a leader that was reset while nobody called it. */
  leaderAlarmMs: 10_000,
  leaderSilentMs: 30_000,
  restartsMax: 20,
  healthyMs: 120_000,
  /** Epochs kept behind the tip. */
  checkpointsKept: 4,
  previewRowsKept: 5_000,
  errorRowsKept: 1_000,
} as const;

assert(LIMITS.queryDepthMax <= LIMITS.queryHeightMax, 'nesting is part of the height');
assert(LIMITS.batchRowsDefault <= LIMITS.batchRowsMax, 'default batch fits');
assert(LIMITS.batchBytesMax <= LIMITS.frameBytesMax, 'a batch fits a frame');
assert(
  LIMITS.batchRowsMax <= LIMITS.unitRowsMax,
  'a batch whose rows make a row each is one piece of work',
);
assert(LIMITS.batchBytesMax <= LIMITS.unitBytesMax, 'and so are its bytes');
assert(LIMITS.valueBytesMax < LIMITS.frameBytesMax, 'a value that was made fits a frame');
assert(LIMITS.valueBytesMax * 8 <= LIMITS.evaluationBytesMax, 'a batch of few rows is not cut');
assert(LIMITS.ingestRowBytesMax <= LIMITS.sqliteValueBytesMax, 'a row fits a stored chunk');
assert(
  LIMITS.heartbeatIntervalMs * 3 <= LIMITS.heartbeatTimeoutMs,
  'one lost heartbeat is not a lost host',
);
