/** How a sink deals its rows to folders: PARTITIONED BY, and the options that say the same. */
import { nearest } from '../base/nearest.ts';
import { isNested, type Schema, typeName } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { Diagnostics } from './diagnostics.ts';
import { withSuggestion } from './diagnostics.ts';
import type { OptionValues, SinkPlan } from './logical.ts';
import { columnExpr } from './nodes.ts';
import type { CanonicalValue } from './options.ts';
import type { SinkTarget, Table } from './table.ts';
import { parseTimePattern, TIME_FIELDS } from './time-pattern.ts';

export const FIELDS = 'partitioning.fields';
export const TIME_PATTERN = 'partitioning.time_pattern';
const SHUFFLE = 'shuffle_by_partition.enabled';

/** The columns that an option of a sink names. */
export function partitionFields(options: OptionValues): readonly string[] {
  const value = options[FIELDS];
  return typeof value === 'string' ? (JSON.parse(value) as string[]) : [];
}

/** The options with what PARTITIONED BY says; what can not be is reported. */
export function bindPartitionOptions(
  table: Table,
  own: Record<string, CanonicalValue>,
  diagnostics: Diagnostics,
): Record<string, CanonicalValue> {
  const options = { ...own };
  const [first] = table.partitionedBy;
  const written = table.written.get(FIELDS);
  const canPartition = table.connector?.options.some(({ name }) => name === FIELDS) === true;
  if (first !== undefined && !canPartition)
    diagnostics.error(
      'INVALID_SINK',
      `"${table.connector?.name ?? ''}" writes no folders, so its rows can not be partitioned`,
      first.span,
      { hint: "leave PARTITIONED BY out, or write with connector = 'r2'" },
    );
  else if (first !== undefined && written !== undefined)
    diagnostics.error(
      'INVALID_OPTION',
      `PARTITIONED BY and the option "${written.key}" say the same thing twice`,
      written.keySpan,
      { hint: 'leave one of them out' },
    );
  const names = table.partitionedBy.flatMap((expression) => {
    const [name, ...more] = expression.tag === 'path' ? expression.parts : [];
    if (name !== undefined && more.length === 0) return [name.name];
    diagnostics.error('UNSUPPORTED', 'rows are partitioned by columns only', expression.span, {
      hint: `name a column that the query computes; for folders by time set '${TIME_PATTERN}' = '%Y-%m-%d/%H'`,
    });
    return [];
  });
  if (names.length > 0) options[FIELDS] = JSON.stringify(names);
  const pattern = options[TIME_PATTERN];
  if (typeof pattern === 'string' && parseTimePattern(pattern) === null)
    diagnostics.error(
      'INVALID_OPTION',
      `'${pattern}' is no pattern of times`,
      table.written.get(TIME_PATTERN)?.value.span ?? table.span,
      { hint: `it has one of ${TIME_FIELDS}, such as '%Y-%m-%d/%H'` },
    );
  if (options[SHUFFLE] === true && partitionFields(options).length === 0)
    diagnostics.error(
      'INVALID_OPTION',
      'rows are shuffled by the columns they are partitioned by, and there are none',
      table.written.get(SHUFFLE)?.keySpan ?? table.span,
      { hint: 'add PARTITIONED BY (…), or leave the option out' },
    );
  return options;
}

/** Reports columns that the rows do not have, or that are no folder's name. */
export function checkPartitionFields(
  target: SinkTarget,
  table: Table,
  schema: Schema,
  diagnostics: Diagnostics,
): void {
  const place = table.partitionedBy[0]?.span ?? table.written.get(FIELDS)?.value.span ?? table.span;
  for (const name of partitionFields(target.options)) {
    const field = schema.find((candidate) => candidate.name === name);
    if (field === undefined)
      diagnostics.error(
        'UNKNOWN_COLUMN',
        `the sink "${target.table}" has no column "${name}" to partition its rows by`,
        place,
        withSuggestion(
          nearest(
            name,
            schema.map((candidate) => candidate.name),
          ),
        ),
      );
    else if (isNested(field.type))
      diagnostics.error(
        'TYPE_ERROR',
        `"${name}" is ${typeName(field.type)}, which names no folder`,
        place,
        { hint: 'partition by columns that are no lists and no structs' },
      );
  }
}

/** What rows are shuffled by before the sink; null: they stay where they are. */
export function partitionKeys(sink: SinkPlan): readonly Expr[] | null {
  if (!sink.parallel) return [];
  if (sink.options[SHUFFLE] !== true) return null;
  return partitionFields(sink.options).map((name) =>
    columnExpr(
      sink.schema,
      sink.schema.findIndex((field) => field.name === name),
    ),
  );
}
