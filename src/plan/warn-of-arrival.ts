/** Windows over rows that have no event time of their own differ from run to run: their author should know. */
import type { Span } from '../base/errors.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { PlanNode } from './logical.ts';
import { quoteName } from './name-text.ts';

export function warnOfArrival(input: PlanNode, span: Span, diagnostics: Diagnostics): void {
  warnOf(input, span, diagnostics, new Set());
}

/** @param seen  nodes that were looked at: one that is read twice is told of once */
function warnOf(input: PlanNode, span: Span, diagnostics: Diagnostics, seen: Set<PlanNode>): void {
  if (seen.has(input)) return;
  seen.add(input);
  switch (input.tag) {
    case 'scan': {
      // Generated rows bring their own.
      if (input.watermark !== null || input.generated) return;
      const times = input.schema.filter(({ type }) => type.tag === 'timestamp');
      const column = times[0]?.name;
      diagnostics.warn(
        'MISSING_WATERMARK',
        `"${input.table}" has no WATERMARK FOR: rows fall into windows by the time they arrive`,
        span,
        {
          detail:
            'The result then depends on when rows come, and is another one if they are read again.',
          hint:
            times.length === 0
              ? 'give the table a TIMESTAMP column and WATERMARK FOR it'
              : `its TIMESTAMP columns: ${times.map(({ name }) => name).join(', ')}`,
          ...(column === undefined
            ? {}
            : {
                suggestion: `WATERMARK FOR ${quoteName(column)} AS ${quoteName(column)} - interval '5 seconds'`,
              }),
        },
      );
      return;
    }
    case 'union':
      for (const each of input.inputs) warnOf(each, span, diagnostics, seen);
      return;
    case 'join':
      warnOf(input.left, span, diagnostics, seen);
      return warnOf(input.right, span, diagnostics, seen);
    case 'project':
    case 'filter':
    case 'newest-by-key':
    case 'unnest':
      return warnOf(input.input, span, diagnostics, seen);
    case 'window-aggregate':
    case 'updating-aggregate':
  }
}
