/** WATERMARK FOR, its older spellings and the idle options → when event time moves on. */
import type { Span } from '../base/errors.ts';
import { nearest } from '../base/nearest.ts';
import { TIMESTAMP, type TypeTag, typeName } from '../batch/types.ts';
import type { Expr } from '../expr/expr.ts';
import type { Identifier } from '../sql/ast.ts';
import type { Output } from './bind-source.ts';
import { ExpressionBinder } from './bind-expression.ts';
import { type Diagnostics, withSuggestion } from './diagnostics.ts';
import { POISON, tableContext } from './expression-context.ts';
import { castTo, resolveCall } from './functions.ts';
import type { WatermarkPlan } from './logical.ts';
import { nearestName } from './name-text.ts';
import type { CanonicalValue } from './options.ts';
import type { Scope } from './scope.ts';
import type { Table } from './table.ts';

/** Types whose values are event times; a DATE is its midnight. */
const MOMENTS: ReadonlySet<TypeTag> = new Set(['timestamp', 'timestamptz', 'timestamp_ns', 'date']);

/** When event time moves on, over the scan's columns; null: by arrival, or after an error. */
export function bindWatermark(
  table: Table,
  outputs: readonly Output[],
  common: ReadonlyMap<string, CanonicalValue>,
  diagnostics: Diagnostics,
): WatermarkPlan | null {
  const idleMs = numberOf(common.get('idle_time'));
  const idleAdvanceMs = numberOf(common.get('watermark.idle_advance'));
  const scope: Scope = outputs.map(({ field, broken }, index) => ({
    ...field,
    qualifier: null,
    index,
    window: null,
    broken,
  }));
  const { watermark } = table;
  if (watermark !== null) {
    const eventTime = timeColumn(watermark.column.name, watermark.column, scope, diagnostics);
    const expression = watermark.expression;
    const bound =
      expression === null
        ? eventTime
        : new ExpressionBinder(tableContext(scope, 'WATERMARK FOR', diagnostics)).bind(expression);
    if (table.written.has('event_time_field'))
      diagnostics.error(
        'INVALID_WATERMARK',
        'event_time_field and WATERMARK FOR say the same twice',
        table.written.get('event_time_field')?.span ?? watermark.span,
        { hint: 'keep WATERMARK FOR' },
      );
    if (eventTime === null || bound === null || bound === POISON) return null;
    const watermarkExpr = asTimestamp(bound);
    if (watermarkExpr === null) {
      diagnostics.error(
        'INVALID_WATERMARK',
        `the watermark must be TIMESTAMP, and this is ${typeName(bound.type)}`,
        (expression ?? watermark).span,
        { hint: `write ${watermark.column.text} - interval '5 seconds'` },
      );
      return null;
    }
    return { eventTime, watermark: watermarkExpr, idleMs, idleAdvanceMs };
  }
  return fieldWatermark(table, scope, common, { idleMs, idleAdvanceMs }, diagnostics);
}

/** The older spelling: the watermark is one second behind the event time unless a column gives it. */
function fieldWatermark(
  table: Table,
  scope: Scope,
  common: ReadonlyMap<string, CanonicalValue>,
  idle: Pick<WatermarkPlan, 'idleMs' | 'idleAdvanceMs'>,
  diagnostics: Diagnostics,
): WatermarkPlan | null {
  const field = table.written.get('event_time_field');
  const watermarkField = table.written.get('watermark_field');
  if (field === undefined) {
    const needless =
      watermarkField ??
      (idle.idleMs !== null ? table.written.get('idle_time') : undefined) ??
      (idle.idleAdvanceMs !== null ? table.written.get('watermark.idle_advance') : undefined);
    if (needless !== undefined)
      diagnostics.error(
        'INVALID_WATERMARK',
        `option "${needless.key}" needs an event time`,
        needless.keySpan,
        { hint: 'add WATERMARK FOR column to the list of columns' },
      );
    return null;
  }
  const columnName = String(common.get('event_time_field'));
  diagnostics.warn('DEPRECATED', 'event_time_field is an older spelling', field.keySpan, {
    hint: 'write WATERMARK FOR in the list of columns',
    suggestion: `WATERMARK FOR ${columnName} AS ${columnName} - interval '1 second'`,
  });
  const eventTime = timeColumn(columnName, field.value, scope, diagnostics);
  if (eventTime === null) return null;
  if (watermarkField !== undefined) {
    const watermark = timeColumn(
      String(common.get('watermark_field')),
      watermarkField.value,
      scope,
      diagnostics,
    );
    return watermark === null ? null : { eventTime, watermark, ...idle };
  }
  const behind = resolveCall('-', [
    eventTime,
    { tag: 'literal', value: '1000000', type: { tag: 'interval' } },
  ]);
  return behind.tag === 'expr' ? { eventTime, watermark: behind.expr, ...idle } : null;
}

function timeColumn(
  name: string,
  place: Identifier | { span: Span },
  scope: Scope,
  diagnostics: Diagnostics,
): Expr | null {
  const column = scope.find((candidate) => candidate.name === name);
  if (column === undefined) {
    diagnostics.error(
      'INVALID_WATERMARK',
      `the event time column "${name}" is not a column of the table`,
      place.span,
      withSuggestion(
        ('name' in place ? nearestName : nearest)(
          name,
          scope.map((candidate) => candidate.name),
        ),
      ),
    );
    return null;
  }
  if (column.broken) return null;
  const time = asTimestamp({ tag: 'column', index: column.index, type: column.type });
  if (time === null) {
    diagnostics.error(
      'INVALID_WATERMARK',
      `the event time column "${name}" is ${typeName(column.type)}, and must be TIMESTAMP`,
      place.span,
      { hint: 'declare it as TIMESTAMP, with timestamp_format when it is written as a number' },
    );
    return null;
  }
  return time;
}

/** A moment of any type as TIMESTAMP, which event times are; null: it is none. */
function asTimestamp(expr: Expr): Expr | null {
  if (!MOMENTS.has(expr.type.tag)) return null;
  const cast = castTo(expr, TIMESTAMP, false);
  return cast.tag === 'expr' ? cast.expr : null;
}

const numberOf = (value: CanonicalValue | undefined): number | null =>
  typeof value === 'number' ? value : null;
