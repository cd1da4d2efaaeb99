/** What the kept epochs prove about rows: the numbers behind "0 lost, 0 doubled". */
import { z } from '@hono/zod-openapi';
import { proveRows } from '../../audit/proof.ts';
import type { LineageView } from '../../lineage/read.ts';

const count = z.int();

export const ProofSchema = z
  .object({
    from_epoch: count.nullable().openapi({ description: 'The first epoch that was checked.' }),
    to_epoch: count.nullable(),
    committed_epoch: count.openapi({ description: 'The totals are those of this epoch; 0: none.' }),
    generations: count.openapi({ description: 'That the checked epochs belong to.' }),
    ranges: count.openapi({ description: 'Input ranges that were compared with the one before.' }),
    partitions: count,
    rows_in: count.openapi({
      description: 'Read in committed epochs since the pipeline began or its state was forgotten.',
    }),
    rows_out: count.openapi({ description: 'Received by sinks in committed epochs.' }),
    filtered: count,
    errors: count,
    late: count,
    sinks: count,
    row_for_row: z.boolean().nullable().openapi({
      description:
        'Each row read is written once to each sink it goes to, filtered or wrong; false: the query makes or merges rows; null: not known.',
    }),
    lost: count.openapi({ description: 'Rows between ranges that do not meet.' }),
    doubled: count.openapi({
      description: 'Rows in two ranges, or in output that is named twice.',
    }),
    flaws: z
      .array(z.string())
      .openapi({ description: 'What contradicts the line, one line each.' }),
    notes: z.array(z.string()).openapi({ description: 'What could not be checked.' }),
  })
  .openapi('RowProof');

export type Proof = z.infer<typeof ProofSchema>;

export function proofView(view: LineageView | null): Proof {
  const proof = proveRows(view);
  return {
    from_epoch: proof.from,
    to_epoch: proof.to,
    committed_epoch: proof.committed,
    generations: proof.generations,
    ranges: proof.ranges,
    partitions: proof.partitions,
    rows_in: proof.rowsIn,
    rows_out: proof.rowsOut,
    filtered: proof.filtered,
    errors: proof.errors,
    late: proof.late,
    sinks: proof.sinks,
    row_for_row: proof.rowForRow,
    lost: proof.lost,
    doubled: proof.doubled,
    flaws: proof.flaws,
    notes: proof.notes,
  };
}
