/** What is proved of a pipeline's rows, as a line that is always in sight: only what the server's proof says. Pure. */
import type { Proof } from '../../../api/jobs/proof-view.ts';
import { count } from '../../lib/format.ts';

export type Invariant = {
  tone: 'good' | 'bad' | 'wait';
  /** `rows in 27,600 = rows out 27,000 + 600 filtered` */
  sums: string;
  /** `0 lost, 0 doubled` */
  verdict: string;
  /** What it rests on, a sentence each. */
  because: string[];
  /** What contradicts it. */
  flaws: readonly string[];
};

/** @param read  rows that sources have read so far, committed or not; null: not known */
export function invariantOf(proof: Proof | null, read: number | null): Invariant {
  if (proof === null)
    return { tone: 'wait', sums: '', verdict: 'adding up', because: [], flaws: [] };
  if (proof.committed_epoch === 0)
    return {
      tone: 'wait',
      sums: 'rows in 0 = rows out 0',
      verdict: 'no epoch is committed yet',
      because: ['The first checkpoint that is committed says how many rows were read and written.'],
      flaws: [],
    };
  const bad = proof.lost > 0 || proof.doubled > 0 || proof.flaws.length > 0;
  return {
    tone: bad ? 'bad' : 'good',
    sums: sumsOf(proof),
    verdict: verdictOf(proof),
    because: reasonsOf(proof, read),
    flaws: proof.flaws,
  };
}

function sumsOf(proof: Proof): string {
  const { rows_in: rowsIn, rows_out: rowsOut, filtered, errors } = proof;
  const known = `rows in ${count(rowsIn)}`;
  if (isSum(proof)) {
    const parts = [
      `rows out ${count(rowsOut)}`,
      ...(filtered > 0 ? [`${count(filtered)} filtered`] : []),
      ...(errors > 0 ? [`${count(errors)} refused`] : []),
    ];
    return `${known} = ${parts.join(' + ')}`;
  }
  return `${known}, each read once → rows out ${count(rowsOut)}`;
}

/** Whether rows in are rows out and what became of the others; not so where rows are made, merged, or go to several sinks. */
const isSum = (proof: Proof): boolean =>
  proof.row_for_row === true &&
  proof.sinks === 1 &&
  proof.rows_in === proof.rows_out + proof.filtered + proof.errors;

function verdictOf({ lost, doubled, flaws }: Proof): string {
  const verdict = `${count(lost)} lost, ${count(doubled)} doubled`;
  if (flaws.length === 0) return verdict;
  return `${verdict}; ${flaws.length === 1 ? 'one contradiction' : `${flaws.length} contradictions`}`;
}

function reasonsOf(proof: Proof, read: number | null): string[] {
  const reasons = [
    `Totals are those of epoch ${count(proof.committed_epoch)}, the newest that is committed; they count from the beginning, or from when state was last forgotten.`,
    rangesReason(proof),
    'Between operators no row vanished: what each received is what those before it gave, less what was filtered or refused and counted.',
    'Each piece of output is named by one epoch and committed with it.',
  ];
  if (!isSum(proof)) reasons.push(unequalReason(proof));
  if (proof.late > 0)
    reasons.push(`${count(proof.late)} rows came after their window had closed, and are counted.`);
  if (read !== null && read > proof.rows_in)
    reasons.push(
      `${count(read - proof.rows_in)} more rows have been read since; the next commit accounts for them.`,
    );
  reasons.push(...proof.notes.map((note) => `Not checked: ${note}.`));
  return reasons;
}

function rangesReason({ ranges, partitions, from_epoch: from, to_epoch: to, generations }: Proof) {
  if (ranges === 0) return 'No input was read in the epochs that are kept.';
  const span = from === to ? `epoch ${from}` : `epochs ${from} to ${to}`;
  const of = generations === 1 ? 'one generation' : `${generations} generations`;
  const inputs = `${count(partitions)} input partition${partitions === 1 ? '' : 's'}`;
  if (ranges === 1)
    return `In ${span}, of ${of}, one range of ${inputs} was read, without gap or overlap.`;
  return `In ${span}, of ${of}, ${count(ranges)} ranges of ${inputs} follow each other without gap or overlap.`;
}

function unequalReason({ row_for_row: each, sinks }: Proof): string {
  if (each === null)
    return 'The plan of these epochs is not kept, so rows out are not compared with rows in.';
  if (!each)
    return 'This query aggregates, joins or makes rows, so rows out need not equal rows in; that each row was read exactly once is what is proved.';
  return `Rows go to ${sinks} sinks, so rows out need not equal rows in; each operator's own sum holds.`;
}
