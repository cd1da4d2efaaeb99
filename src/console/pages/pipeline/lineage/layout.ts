/**
 * Where everything of a lineage is drawn, in columns and rows: the canonical line from left to right, one column for each
 * epoch; what lost beside it; generations as bands of columns. Pure.
 *
 * Row 0 is the line; rows below are those that lost, at most `ROWS_MOST`, the rest counted. A column belongs to its
 * epoch as long as none before it appears or goes, so that what is drawn only slides.
 */
import {
  type GenerationDetail,
  generationKey,
  type Loser,
  type River,
  type RiverEpoch,
} from './river.ts';

/** `cut`: what a leader that failed had read behind its last epoch; it was never claimed, and was read again. */
export type NodeKind = 'epoch' | 'lost' | 'abandoned' | 'cut' | 'folded' | 'running';

export type RiverNode = {
  /** Stable: names the node in addresses and keys. */
  id: string;
  kind: NodeKind;
  column: number;
  row: number;
  epoch: number;
  generation: number;
  /** Of `epoch`. */
  canonical: RiverEpoch | null;
  /** Of `lost`. */
  loser: Loser | null;
  /** Of `folded`: how many stand for it. */
  count: number;
};

/** From a column to a node beside the line. */
export type RiverBranch = { to: RiverNode; fromColumn: number; fromRow: number };

export type RiverBand = {
  key: string;
  generation: number;
  /** Which start of its leader, from 1; 0: it had only one. */
  start: number;
  /** First column, and the one behind the last. */
  from: number;
  to: number;
  epochs: number;
  /** `next`: it is starting and has won nothing yet. */
  state: 'owner' | 'past' | 'empty' | 'next';
  detail: GenerationDetail | null;
};

export type RiverLayout = {
  nodes: readonly RiverNode[];
  /** Those on the line, by column. */
  line: readonly RiverNode[];
  branches: readonly RiverBranch[];
  bands: readonly RiverBand[];
  first: number;
  /** The column behind the last. */
  end: number;
  rows: number;
};

export type RiverNow = {
  generation: number;
  running: { epoch: number; attempt: number } | null;
  /** Whether anything is still written. */
  alive: boolean;
};

export const ROWS_MOST = 3;

type Draft = { line: RiverNode[]; bands: RiverBand[]; column: number };

export function layOutRiver(river: River, now: RiverNow): RiverLayout {
  const first = river.epochs[0]?.epoch ?? 0;
  const draft: Draft = { line: [], bands: [], column: first };
  const waiting = river.generations.filter(
    (one) => !river.epochs.some((epoch) => belongsTo(epoch, one)),
  );
  for (const epoch of river.epochs) {
    const band = draft.bands.at(-1);
    if (band === undefined || !continues(band, epoch)) {
      placeEmpty(draft, waiting, epoch);
      draft.bands.push(bandFor(river, epoch, draft.column));
    } else adopt(river, band, epoch);
    draft.line.push(canonicalNode(epoch, draft.column));
    const current = draft.bands.at(-1);
    draft.column++;
    if (current !== undefined) {
      current.to = draft.column;
      current.epochs++;
    }
  }
  placeEmpty(draft, waiting, null);
  placeNext(draft, river, now);
  numberStarts(draft.bands);
  markOwner(draft.bands, river, now);
  return finish(draft, river, now, first);
}

const belongsTo = (epoch: RiverEpoch, { generation, nonce }: GenerationDetail): boolean =>
  epoch.generation === generation && (epoch.nonce === '' || epoch.nonce === nonce);

function continues(band: RiverBand, { generation, nonce }: RiverEpoch): boolean {
  if (band.state === 'empty' || band.generation !== generation) return false;
  const own = band.key.slice(band.key.indexOf('/') + 1);
  return own === nonce || own === '' || nonce === '';
}

/** Of epochs that are only remembered nobody knows which start of the leader made them: that of the first that is known. */
function adopt(river: River, band: RiverBand, epoch: RiverEpoch): void {
  if (epoch.nonce === '' || !band.key.endsWith('/')) return;
  band.key = generationKey(epoch);
  band.detail = river.generations.find((one) => belongsTo(epoch, one)) ?? band.detail;
}

function bandFor(river: River, epoch: RiverEpoch, column: number): RiverBand {
  const detail = river.generations.find((one) => belongsTo(epoch, one)) ?? null;
  return {
    key: generationKey(epoch),
    generation: epoch.generation,
    start: 0,
    from: column,
    to: column,
    epochs: 0,
    state: 'past',
    detail,
  };
}

/** Generations that won no epoch stand where they would have begun: before the first epoch of a later one. */
function placeEmpty(draft: Draft, waiting: GenerationDetail[], before: RiverEpoch | null): void {
  while (waiting.length > 0) {
    const [detail] = waiting;
    if (detail === undefined) return;
    const isEarlier =
      before === null ||
      detail.generation < before.generation ||
      (detail.generation === before.generation && detail.created_at < before.createdAt);
    if (!isEarlier) return;
    waiting.shift();
    draft.bands.push({
      key: generationKey(detail),
      generation: detail.generation,
      start: 0,
      from: draft.column,
      to: draft.column + 1,
      epochs: 0,
      state: 'empty',
      detail,
    });
    draft.column++;
  }
}

function placeNext(draft: Draft, river: River, now: RiverNow): void {
  const newest = Math.max(0, ...draft.bands.map(({ generation }) => generation));
  if (!now.alive || now.generation <= newest || river.epochs.length === 0) return;
  draft.bands.push({
    key: `${now.generation}/`,
    generation: now.generation,
    start: 0,
    from: draft.column,
    to: draft.column + 1,
    epochs: 0,
    state: 'next',
    detail: null,
  });
}

function numberStarts(bands: readonly RiverBand[]): void {
  const seen = new Map<number, RiverBand[]>();
  for (const band of bands) seen.set(band.generation, [...(seen.get(band.generation) ?? []), band]);
  for (const same of seen.values())
    if (same.length > 1) same.forEach((band, index) => (band.start = index + 1));
}

function markOwner(bands: readonly RiverBand[], river: River, { alive }: RiverNow): void {
  const last = bands.at(-1);
  if (!alive || last === undefined || last.state === 'next') return;
  if (last.generation === river.owner) last.state = 'owner';
}

function canonicalNode(epoch: RiverEpoch, column: number): RiverNode {
  return {
    id: `e${epoch.epoch}`,
    kind: 'epoch',
    column,
    row: 0,
    epoch: epoch.epoch,
    generation: epoch.generation,
    canonical: epoch,
    loser: null,
    count: 1,
  };
}

function finish(draft: Draft, river: River, now: RiverNow, first: number): RiverLayout {
  const { line, bands } = draft;
  const columnOf = new Map(line.map(({ epoch, column }) => [epoch, column]));
  const beside = new Map<number, RiverNode[]>();
  const add = (node: RiverNode): void => {
    beside.set(node.column, [...(beside.get(node.column) ?? []), node]);
  };
  for (const { canonical } of line)
    for (const other of canonical?.detail?.others ?? [])
      add(loserNode(other, canonical?.epoch ?? 0, columnOf, draft.column));
  for (const other of river.unclaimed) add(loserNode(other, other.epoch, columnOf, draft.column));
  for (const { epoch, generation, startedAt } of river.abandoned)
    add({
      ...blank(`a${startedAt}`, 'abandoned', epoch, generation),
      column: columnOf.get(epoch) ?? draft.column,
    });
  for (const node of cutOff(draft, river)) add(node);
  const losers = [...beside.values()].flatMap(stacked);
  const running = runningNode(now, columnOf, draft.column);
  const branches = losers.map((to) => branchTo(to, line, columnOf));
  const nodes = [...line, ...(running === null ? [] : [running]), ...losers];
  return {
    nodes,
    line,
    branches,
    bands,
    first,
    end: Math.max(
      draft.column,
      ...nodes.map(({ column }) => column + 1),
      ...bands.map(({ to }) => to),
    ),
    rows: Math.max(0, ...losers.map(({ row }) => row)),
  };
}

/** Where a leader did not end by itself: behind its last epoch there was more, which nobody claimed. */
function cutOff({ line, bands }: Draft, river: River): RiverNode[] {
  return bands.flatMap((band, index) => {
    const next = bands[index + 1];
    const last = line.findLast(({ column }) => column >= band.from && column < band.to);
    if (next === undefined || last === undefined || !wasCut(band, next)) return [];
    const epoch = last.epoch + 1;
    if (river.abandoned.some((one) => one.epoch === epoch && one.generation === band.generation))
      return [];
    return [{ ...blank(`c${band.key}`, 'cut', epoch, band.generation), column: next.from }];
  });
}

const wasCut = (band: RiverBand, next: RiverBand): boolean =>
  next.generation === band.generation || next.detail?.reason.startsWith('recovery') === true;

function loserNode(
  loser: Loser,
  epoch: number,
  columnOf: ReadonlyMap<number, number>,
  behind: number,
): RiverNode {
  const node = blank(
    `l${loser.generation}-${loser.nonce}-${epoch}`,
    'lost',
    epoch,
    loser.generation,
  );
  return { ...node, loser, column: columnOf.get(epoch) ?? behind };
}

const blank = (id: string, kind: NodeKind, epoch: number, generation: number): RiverNode => ({
  id,
  kind,
  column: 0,
  row: 0,
  epoch,
  generation,
  canonical: null,
  loser: null,
  count: 1,
});

/** Those of one column under each other, oldest generation first; too many are folded into one. */
function stacked(nodes: RiverNode[]): RiverNode[] {
  const sorted = nodes.sort((left, right) => left.generation - right.generation);
  const shown = sorted.length > ROWS_MOST ? sorted.slice(0, ROWS_MOST - 1) : sorted;
  const placed = shown.map((node, index) => ({ ...node, row: index + 1 }));
  const rest = sorted.slice(shown.length);
  const [first] = rest;
  if (first === undefined) return placed;
  const folded: RiverNode = {
    ...blank(`f${first.epoch}`, 'folded', first.epoch, first.generation),
    column: first.column,
    row: ROWS_MOST,
    count: rest.length,
  };
  return [...placed, folded];
}

function runningNode(
  { running, alive }: RiverNow,
  columnOf: ReadonlyMap<number, number>,
  behind: number,
): RiverNode | null {
  if (running === null || !alive || columnOf.has(running.epoch)) return null;
  return { ...blank('running', 'running', running.epoch, 0), column: behind };
}

/** A checkpoint that lost leaves the line where the epoch before it lies. */
function branchTo(
  to: RiverNode,
  line: readonly RiverNode[],
  columnOf: ReadonlyMap<number, number>,
): RiverBranch {
  const parent = columnOf.get(to.epoch - 1);
  const fallback = line.findLast(({ column }) => column < to.column)?.column ?? to.column;
  return { to, fromColumn: parent ?? fallback, fromRow: 0 };
}

/** Nodes from `from` to before `to`, which alone are drawn. */
export function inSight<Placed extends { column: number }>(
  nodes: readonly Placed[],
  from: number,
  to: number,
): Placed[] {
  return nodes.filter(({ column }) => column >= from && column < to);
}

export type Step = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown' | 'Home' | 'End';

/** The node an arrow key leads to: along the line, or to what lies beside it. */
export function nextNode(layout: RiverLayout, id: string | null, step: Step): RiverNode | null {
  const here = layout.nodes.find((node) => node.id === id);
  const ends = layout.nodes.filter(({ row }) => row === 0);
  if (here === undefined) return ends.at(-1) ?? null;
  if (step === 'Home') return ends[0] ?? null;
  if (step === 'End') return ends.at(-1) ?? null;
  if (step === 'ArrowUp' || step === 'ArrowDown') {
    const row = here.row + (step === 'ArrowDown' ? 1 : -1);
    return layout.nodes.find((node) => node.column === here.column && node.row === row) ?? here;
  }
  const ahead =
    step === 'ArrowRight'
      ? ends.find(({ column }) => column > here.column)
      : ends.findLast(({ column }) => column < here.column);
  return ahead ?? here;
}
