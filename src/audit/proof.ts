/**
 * What the kept part of a line proves about rows, in a few numbers: how many were read and written, and whether any was
 * skipped or read twice. Pure.
 *
 * Place in the walk: beside it. Totals are the counters of the newest committed checkpoint: since the pipeline began, or
 * since its state was last forgotten. Ranges and balances are checked for every kept epoch; those below the floor were
 * checked when they were claimed (INV-11) and are not kept. Where a row is not written as one row (aggregates, joins), what is
 * proved is that each was read once and that none vanished between operators.
 *
 * Failure: none; what does not fit is returned, one line each.
 */
import { offsetsOf, positionOf } from '../lineage/inputs.ts';
import type { LineageView } from '../lineage/read.ts';
import type { CheckpointManifest, JsonValue, PlannedOperator } from '../lineage/types.ts';
import { checkRows } from './check-rows.ts';
import { type Evidence, planKey } from './evidence.ts';
import type { Finding } from './findings.ts';
import { piecesOf, totalsOf } from './totals.ts';

export type RowProof = {
  /** Epochs whose ranges and rows were checked; null: there is none yet. */
  from: number | null;
  to: number | null;
  /** The newest committed epoch, whose counters the totals are; 0: none yet. */
  committed: number;
  generations: number;
  /** Input ranges that were compared with their neighbours, and the partitions they are of. */
  ranges: number;
  partitions: number;
  rowsIn: number;
  rowsOut: number;
  filtered: number;
  errors: number;
  late: number;
  sinks: number;
  /** Every row read is written, filtered or wrong: the query has nothing that makes or merges rows. Null: no plan is kept. */
  rowForRow: boolean | null;
  lost: number;
  doubled: number;
  flaws: string[];
  /** What could not be checked. */
  notes: string[];
};

const NOTHING: RowProof = {
  from: null,
  to: null,
  committed: 0,
  generations: 0,
  ranges: 0,
  partitions: 0,
  rowsIn: 0,
  rowsOut: 0,
  filtered: 0,
  errors: 0,
  late: 0,
  sinks: 0,
  rowForRow: null,
  lost: 0,
  doubled: 0,
  flaws: [],
  notes: [],
};

const SOURCES = new Set(['source', 'change-source']);
/** Operators that give each row on, or say what became of it. */
const ROW_FOR_ROW = new Set(['source', 'filter', 'project', 'union', 'sink']);

export function proveRows(view: LineageView | null): RowProof {
  if (view === null || view.checkpoints.length === 0) return NOTHING;
  const { checkpoints } = view;
  const findings: Finding[] = [];
  const line = lineOf(view);
  const notes = checkRows(line, new Set(), findings);
  const walked = walk(checkpoints.map(({ manifest }) => manifest));
  const twice = writtenTwice(view);
  const tip = checkpoints.findLast(({ committed }) => committed)?.manifest ?? null;
  const plan = tip === null ? null : (newestPlan(line.plans, checkpoints, tip) ?? null);
  return {
    ...NOTHING,
    ...totals(tip, plan),
    from: checkpoints[0]?.epoch ?? null,
    to: checkpoints.at(-1)?.epoch ?? null,
    committed: tip?.epoch ?? 0,
    generations: new Set(checkpoints.map(({ manifest }) => manifest.generation)).size,
    ranges: walked.ranges,
    partitions: walked.partitions,
    lost: walked.lost,
    doubled: walked.doubled + twice.rows,
    flaws: [...findings.map(({ message }) => message), ...twice.flaws],
    notes: [...notes, ...view.unreadable],
  };
}

/** The view in the form that `checkRows` judges. */
function lineOf(view: LineageView): {
  evidence: Map<number, Evidence>;
  plans: Map<string, readonly PlannedOperator[]>;
} {
  const evidence = new Map<number, Evidence>();
  for (const { epoch, record, manifest, committed } of view.checkpoints)
    evidence.set(epoch, { epoch, record, manifest, marker: committed ? 'found' : 'absent' });
  const plans = new Map<string, readonly PlannedOperator[]>();
  for (const { generation, incarnation, operators } of view.generations)
    if (operators !== null) plans.set(planKey({ generation, nonce: incarnation.nonce }), operators);
  return { evidence, plans };
}

/** A leader notes its plan when it begins: of a fence that was just claimed there may be none yet, but one before. */
function newestPlan(
  plans: ReadonlyMap<string, readonly PlannedOperator[]>,
  checkpoints: LineageView['checkpoints'],
  tip: CheckpointManifest,
): readonly PlannedOperator[] | undefined {
  return checkpoints
    .filter(({ epoch, manifest }) => epoch <= tip.epoch && manifest.planHash === tip.planHash)
    .map(({ manifest }) => plans.get(planKey(manifest)))
    .findLast((plan) => plan !== undefined);
}

type Ends = Map<string, JsonValue>;

/** Follows the ranges of every partition; rows between two that do not meet are lost, those in both are doubled. */
function walk(manifests: readonly CheckpointManifest[]): {
  ranges: number;
  partitions: number;
  lost: number;
  doubled: number;
} {
  const partitions = new Set<string>();
  let ranges = 0;
  let lost = 0;
  let doubled = 0;
  let ends: Ends | null = null;
  let epochBefore = -1;
  for (const manifest of manifests) {
    if (manifest.epoch !== epochBefore + 1) ends = manifest.epoch === 1 ? new Map() : null;
    for (const { operator, partition, from, to } of manifest.inputs ?? []) {
      const key = `${operator}/${partition}`;
      partitions.add(key);
      ranges++;
      const end: JsonValue | undefined = ends?.get(key);
      if (end !== undefined && JSON.stringify(end) !== JSON.stringify(from)) {
        const skipped = (positionOf(from) ?? 0) - (positionOf(end) ?? 0);
        if (skipped < 0) doubled -= skipped;
        else lost += Math.max(1, skipped);
      }
      ends ??= new Map();
      ends.set(key, to);
    }
    ends = offsetsOf(manifest);
    epochBefore = manifest.epoch;
  }
  return { ranges, partitions: partitions.size, lost, doubled };
}

/** Output that two canonical checkpoints name would be committed twice. */
function writtenTwice(view: LineageView): { rows: number; flaws: string[] } {
  const seen = new Map<string, number>();
  const flaws: string[] = [];
  let rows = 0;
  for (const { epoch, manifest } of view.checkpoints)
    for (const piece of piecesOf(manifest.items)) {
      const before = seen.get(piece.key);
      if (before !== undefined) {
        rows += piece.rows;
        flaws.push(`epochs ${before} and ${epoch} both commit ${piece.key}`);
      }
      seen.set(piece.key, epoch);
    }
  return { rows, flaws };
}

type Totals = Pick<
  RowProof,
  'rowsIn' | 'rowsOut' | 'filtered' | 'errors' | 'late' | 'sinks' | 'rowForRow'
>;

function totals(
  tip: CheckpointManifest | null,
  plan: readonly PlannedOperator[] | null,
): Partial<Totals> {
  if (tip === null) return {};
  const counted = totalsOf(tip);
  const of = (operator: string, name: string): number => counted.get(operator)?.[name] ?? 0;
  const all = [...counted.keys()];
  const sum = (operators: readonly string[], name: string): number =>
    operators.reduce((total, operator) => total + of(operator, name), 0);
  const common = {
    filtered: sum(all, 'filtered'),
    errors: sum(all, 'errors'),
    late: sum(all, 'late'),
  };
  if (plan === null) return common;
  const named = (kinds: (kind: string) => boolean): string[] =>
    plan.filter(({ kind }) => kinds(kind)).map(({ operator }) => operator);
  const sinks = named((kind) => kind === 'sink');
  return {
    ...common,
    rowsIn: sum(
      named((kind) => SOURCES.has(kind)),
      'rowsIn',
    ),
    rowsOut: sum(sinks, 'rowsIn'),
    sinks: sinks.length,
    rowForRow: plan.every(({ kind }) => ROW_FOR_ROW.has(kind)),
  };
}
