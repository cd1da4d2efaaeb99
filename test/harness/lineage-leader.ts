/**
 * A leader without a data plane, as a chain of works: it opens the lineage, redoes, fences, and then publishes and commits
 * epoch after epoch. Scenario tests run it request by request, the model checker explores it.
 *
 * Its pipeline has one source that counts 0, 1, 2, …, one row an epoch, whose offset is in the checkpoint; and one sink.
 * So output is exactly once if and only if the sink holds 0, 1, 2, … without gap or repetition.
 * State: each data epoch writes one file and keeps its parent's newest one.
 */
import { contentHash } from '../../src/lineage/content-hash.ts';
import { collectGarbage } from '../../src/lineage/collect.ts';
import { completeCommit } from '../../src/lineage/commit.ts';
import type { LineageContext } from '../../src/lineage/context.ts';
import { fenceAndBegin } from '../../src/lineage/fence.ts';
import { openLineage } from '../../src/lineage/open.ts';
import { LineagePaths } from '../../src/lineage/paths.ts';
import { publishCheckpoint } from '../../src/lineage/publish.ts';
import type { CheckpointDraft } from '../../src/lineage/publish.ts';
import { createConfirmed } from '../../src/lineage/store.ts';
import type { Lineage } from '../../src/lineage/store.ts';
import type { Incarnation, StateFile, Tip } from '../../src/lineage/types.ts';

export const PATHS = new LineagePaths('pl', 'job');

/** `epochs`: how many data epochs it publishes before it is done. `keep`: epochs kept by collection, null for none. */
export type LeaderPlan = {
  generation: number;
  me: Incarnation;
  epochs: number;
  keep: number | null;
  /** Its fence forgets the state that older generations left. */
  reset?: boolean;
  /** Its data checkpoints name their new file only, not their parent's newest too. */
  forgetful?: boolean;
};

/** Plain data: everything a leader knows between two works. */
export type LeaderState = {
  phase:
    | 'open'
    | 'redo'
    | 'mark'
    | 'fence'
    | 'write'
    | 'publish'
    | 'commit'
    | 'complete'
    | 'collect'
    | 'fenced'
    | 'broken'
    | 'unavailable';
  tip: Tip | null;
  published: number;
  note: string;
};

export type SinkCall = { epoch: number; ref: string; rows: number[] };

export type Work =
  | { tag: 'store'; workflow: () => Lineage<LeaderState> }
  /** Waits for the sink's acknowledgement, then is in state `then`. */
  | { tag: 'sink'; call: SinkCall; then: LeaderState }
  | { tag: 'ended' };

export const LEADER_START: LeaderState = { phase: 'open', tip: null, published: 0, note: '' };

export function incarnation(generation: number, startNo = 1): Incarnation {
  return { objectId: `leader${generation}`, startNo, nonce: `n${generation}-${startNo}` };
}

export function contextOf(plan: { generation: number; me: Incarnation }): LineageContext {
  let writes = 0;
  return {
    paths: PATHS,
    generation: plan.generation,
    me: plan.me,
    nowMs: 0,
    nextWriteId: () => `${plan.me.nonce}-${++writes}`,
  };
}

/** The next offset of the source: rows below it are in checkpoint `tip`. */
export function offsetOf(tip: Tip): number {
  const entry = tip.manifest?.broadcast.find((each) => each.table === 'offsets');
  return typeof entry?.value === 'number' ? entry.value : 0;
}

const INFO = { planHash: 'plan', codeVersion: '1', parallelism: 1, reason: 'test' };

export function nextWork(plan: LeaderPlan, state: LeaderState): Work {
  const ctx = contextOf(plan);
  const { phase, tip } = state;
  if (phase === 'open') return store(openWork(ctx, state));
  if (phase === 'fenced' || phase === 'broken' || phase === 'unavailable') return { tag: 'ended' };
  if (tip === null) throw new Error(`no tip in phase ${phase}`);
  switch (phase) {
    case 'redo':
      return { tag: 'sink', call: sinkCall(tip), then: { ...state, phase: 'mark' } };
    case 'commit':
      return { tag: 'sink', call: sinkCall(tip), then: { ...state, phase: 'complete' } };
    case 'mark':
      return store(markWork(ctx, state, tip, 'fence'));
    case 'complete':
      return store(markWork(ctx, state, tip, plan.keep === null ? 'write' : 'collect'));
    case 'fence':
      return store(fenceWork(ctx, state, tip, resetDue(plan, tip)));
    case 'collect':
      return store(collectWork(ctx, state, tip, plan.keep ?? 0));
    case 'write':
      if (state.published >= plan.epochs) return { tag: 'ended' };
      return store(writeWork(ctx, state, tip));
    case 'publish':
      return store(publishWork(ctx, state, tip, plan.forgetful ?? false));
  }
}

function store(workflow: () => Lineage<LeaderState>): Work {
  return { tag: 'store', workflow };
}

function ended(
  state: LeaderState,
  why: { tag: 'fenced' | 'broken' | 'unavailable'; report?: { message: string } },
): LeaderState {
  return { ...state, phase: why.tag, note: why.report?.message ?? '' };
}

function ready(state: LeaderState, tip: Tip): LeaderState {
  return { ...state, tip, phase: tip.committed ? 'fence' : 'redo' };
}

function openWork(ctx: LineageContext, state: LeaderState) {
  return function* open(): Lineage<LeaderState> {
    const opened = yield* openLineage(ctx);
    return opened.tag === 'opened' ? ready(state, opened.tip) : ended(state, opened);
  };
}

function markWork(ctx: LineageContext, state: LeaderState, tip: Tip, phase: LeaderState['phase']) {
  return function* mark(): Lineage<LeaderState> {
    const marked = yield* completeCommit(ctx, tip);
    return marked.tag === 'marked' ? { ...state, tip: marked.tip, phase } : ended(state, marked);
  };
}

const resetDue = ({ reset = false, generation }: LeaderPlan, { manifest }: Tip): boolean =>
  reset && manifest !== null && manifest.generation < generation;

function fenceWork(ctx: LineageContext, state: LeaderState, tip: Tip, reset: boolean) {
  return function* fence(): Lineage<LeaderState> {
    const begun = yield* fenceAndBegin(ctx, tip, { reset, info: INFO });
    if (begun.tag === 'begun') return { ...state, tip: begun.tip, phase: 'write' };
    return begun.tag === 'adopted' ? ready(state, begun.tip) : ended(state, begun);
  };
}

function writeWork(ctx: LineageContext, state: LeaderState, tip: Tip) {
  return function* write(): Lineage<LeaderState> {
    const { key, body } = newFile(ctx, tip);
    const written = yield* createConfirmed(key, body);
    if (written.tag === 'unanswered')
      return { ...state, phase: 'unavailable', note: written.message };
    if (written.tag === 'different') return { ...state, phase: 'broken', note: `${key} differs` };
    return { ...state, phase: 'publish' };
  };
}

function publishWork(ctx: LineageContext, state: LeaderState, tip: Tip, forgetful: boolean) {
  return function* publish(): Lineage<LeaderState> {
    const draft = draftAfter(ctx, tip);
    const files = forgetful ? draft.files.slice(-1) : draft.files;
    const done = yield* publishCheckpoint(ctx, tip, { ...draft, files });
    if (done.tag === 'canonical')
      return { ...state, tip: done.tip, phase: 'commit', published: state.published + 1 };
    return done.tag === 'lost-while-mine'
      ? { ...ready(state, done.tip), note: 'lost while mine' }
      : ended(state, done);
  };
}

function collectWork(ctx: LineageContext, state: LeaderState, tip: Tip, keep: number) {
  return function* collect(): Lineage<LeaderState> {
    const done = yield* collectGarbage(ctx, tip, keep);
    const unreadable = done.tag === 'skipped' && done.reason === 'unreadable';
    return unreadable
      ? { ...state, phase: 'broken', note: done.report.message }
      : { ...state, phase: 'write' };
  };
}

function newFile(ctx: LineageContext, tip: Tip): { key: string; body: Uint8Array } {
  const key = ctx.paths.file(ctx.generation, ctx.me.nonce, tip.epoch + 1, 'sum', 'totals', 0, 'u');
  return {
    key,
    body: new TextEncoder().encode(`rows below ${offsetOf(tip) + 1} by ${ctx.me.nonce}`),
  };
}

/** The checkpoint after `tip`: one more row read, one file new, the parent's newest file kept. */
export function draftAfter(ctx: LineageContext, tip: Tip): CheckpointDraft {
  const { key, body } = newFile(ctx, tip);
  const row = offsetOf(tip);
  const file: StateFile = {
    operator: 'sum',
    table: 'totals',
    subtask: 0,
    key,
    size: body.length,
    hash: contentHash(body),
    rows: 1,
    keyRange: { lower: 0, upper: 4294967296 },
    layer: 0,
  };
  return {
    epoch: tip.epoch + 1,
    attempt: 1,
    planHash: 'plan',
    parallelism: 1,
    files: [...(tip.manifest?.files.slice(-1) ?? []), file],
    broadcast: [{ operator: 'source', table: 'offsets', subtask: 0, value: row + 1 }],
    inputs: null,
    needsCommit: true,
    items: [{ sink: 'out', subtask: 0, index: 0, payload: row }],
    finished: false,
    createdAtMs: 0,
  };
}

export function sinkCall(tip: Tip): SinkCall {
  const rows = (tip.manifest?.items ?? []).map((item) => Number(item.payload));
  return { epoch: tip.epoch, ref: tip.ref?.ref ?? '', rows };
}
