/**
 * The points of their work at which a leader or a host can be made to reset itself: `now`, before an effect, or behind
 * it. The names are those of the effects; a test holds the lists to them.
 */

const LINEAGE = ['open', 'complete-commit', 'fence', 'publish', 'collect'] as const;

export const LEADER_POINTS: readonly string[] = [
  'now',
  'persist',
  ...LINEAGE.flatMap((operation) => [`lineage:${operation}`, `lineage:${operation}:after`]),
  'send:deploy',
  'send:begin',
  'send:adopt',
  'send:barrier',
  'send:commit',
  'send:settled',
  'send:stop',
  'watch',
  'wake-at',
  'nudge',
  'keep-problems',
  'ended',
];

export const HOST_POINTS: readonly string[] = [
  'now',
  'answer',
  'answer-delivery',
  'report:deployed',
  'report:checkpointed',
  'report:committed',
  'report:drained',
  'report:stopped',
  'report:failed',
  'report:heartbeat',
  'deliver',
  'read',
  'get-file',
  'file-read:after',
  'put-file',
  'file-put:after',
  'stage',
  'staged:after',
  'pre-commit',
  'pre-committed:after',
  'commit',
  'committed:after',
  'call-function',
  'called:after',
  'preview',
  'trim',
  'released',
];
