/** One line for people about MATCH_RECOGNIZE. */
import { formatInterval } from './interval.ts';
import type { MatchNode } from './logical.ts';
import { quoteName } from './name-text.ts';

const SKIPS = {
  past_last: '',
  next_row: ', skip to next row',
  to_first: ', skip to first ',
  to_last: ', skip to last ',
} as const;

export function describeMatch(node: MatchNode): string {
  const { skip, withinMicros, partitionBy } = node;
  const names = partitionBy.map((_, at) => quoteName(node.schema[at]?.name ?? ''));
  const by = names.length === 0 ? '' : ` by ${names.join(', ')}`;
  const within = withinMicros === null ? '' : ` within ${formatInterval(withinMicros)}`;
  const variable = 'variable' in skip ? (node.variables[skip.variable] ?? '') : '';
  return `match (${node.pattern})${within}${by}${SKIPS[skip.tag]}${variable}`;
}
