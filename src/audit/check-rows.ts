/**
 * Judges input ranges and counters: that no input was skipped or read twice, and that no row vanished on its way. Pure.
 *
 * At a cut nothing is under way between operators, so what an operator received since the parent is what those before
 * it emitted, and a sink has staged a line for each row. An aggregate emits what it likes, and rows may be late there.
 */
import { inputFlaws } from '../lineage/inputs.ts';
import type { PlannedOperator } from '../lineage/types.ts';
import type { CheckpointManifest } from '../lineage/types.ts';
import { type Parent, parentOf } from './check-line.ts';
import { type Line, planKey } from './evidence.ts';
import type { Finding } from './findings.ts';
import { deltasOf, piecesOf, type Totals } from './totals.ts';

const INPUT_CODES = {
  gap: 'INPUT_GAP',
  offset: 'INPUT_GAP',
  overlap: 'INPUT_OVERLAP',
  count: 'INPUT_MISCOUNTED',
} as const;

/** @returns what could not be checked, one line each */
export function checkRows(
  line: Pick<Line, 'evidence' | 'plans'>,
  broken: ReadonlySet<number>,
  findings: Finding[],
): string[] {
  const untold: number[] = [];
  const planless: number[] = [];
  for (const evidence of line.evidence.values()) {
    const { epoch, manifest, record } = evidence;
    if (manifest === null || broken.has(epoch)) continue;
    const parent = parentOf(line, evidence);
    const key = record.checkpoint.ref;
    for (const { tag, message } of inputFlaws(parent, manifest))
      findings.push({ code: INPUT_CODES[tag], epoch, key, message: `epoch ${epoch}: ${message}` });
    if (manifest.kind === 'fence') continue;
    if (manifest.inputs === null) untold.push(epoch);
    const plan = line.plans.get(planKey(manifest));
    if (plan === undefined) planless.push(epoch);
    else if (parent !== undefined)
      for (const message of miscounts(plan, parent, manifest))
        findings.push({
          code: 'ROWS_MISCOUNTED',
          epoch,
          key,
          message: `epoch ${epoch}: ${message}`,
        });
  }
  return [
    ...noteOf(untold, 'does not tell its input: its version did not yet'),
    ...noteOf(planless, 'has no plan in the bucket: its rows were not added up'),
  ];
}

function noteOf(epochs: readonly number[], what: string): string[] {
  const [first] = epochs;
  if (first === undefined) return [];
  return [`epoch ${first}${epochs.length > 1 ? ` (and ${epochs.length - 1} more)` : ''} ${what}`];
}

function miscounts(
  plan: readonly PlannedOperator[],
  parent: NonNullable<Parent> | null,
  manifest: CheckpointManifest,
): string[] {
  const deltas = deltasOf(parent, manifest);
  const wrong: string[] = [];
  for (const planned of plan) {
    const counts = countsOf(deltas, planned.operator);
    const { operator, kind, inputs } = planned;
    if (Object.values(counts).some((count) => count < 0)) {
      wrong.push(`counters of ${operator} went back`);
      continue;
    }
    const given = isSource(kind)
      ? inputRows(manifest, operator)
      : sum(inputs.map((input) => countsOf(deltas, input).rowsOut));
    if (given !== null && given !== counts.rowsIn)
      wrong.push(
        `${operator} counted ${counts.rowsIn} rows in, but ${given} were ${isSource(kind) ? 'read' : 'sent to it'}`,
      );
    const left = leftOf(planned, counts, manifest);
    if (left !== null && left !== counts.rowsIn)
      wrong.push(
        `${operator} counted ${counts.rowsIn} rows in, but ${left} out, filtered or wrong`,
      );
  }
  return wrong;
}

/** A change that was read may give two rows, so only what a `change-source` has read is compared. */
const isSource = (kind: string): boolean => kind === 'source' || kind === 'change-source';

type Counts = { rowsIn: number; rowsOut: number; errors: number; filtered: number };

function countsOf(deltas: Totals, operator: string): Counts {
  const known = deltas.get(operator) ?? {};
  const of = (name: string): number => known[name] ?? 0;
  return {
    rowsIn: of('rowsIn'),
    rowsOut: of('rowsOut'),
    errors: of('errors'),
    filtered: of('filtered'),
  };
}

/** What became of the rows, for operators in which none may vanish; null for others. */
function leftOf(
  { operator, kind, linePerRow }: PlannedOperator,
  { rowsOut, errors, filtered }: Counts,
  manifest: CheckpointManifest,
): number | null {
  if (kind === 'source' || kind === 'project' || kind === 'union') return rowsOut + errors;
  if (kind === 'filter') return rowsOut + errors + filtered;
  if (!linePerRow) return null;
  const pieces = piecesOf(manifest.items).filter(({ sink }) => sink === operator);
  return sum(pieces.map(({ rows }) => rows)) + errors;
}

/** Null when the checkpoint does not tell. */
function inputRows({ inputs }: CheckpointManifest, operator: string): number | null {
  if (inputs === null) return null;
  return sum(inputs.filter((range) => range.operator === operator).map(({ rows }) => rows));
}

const sum = (counts: readonly number[]): number =>
  counts.reduce((total, count) => total + count, 0);
