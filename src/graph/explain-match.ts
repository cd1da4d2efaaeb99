/** What MATCH_RECOGNIZE keeps, and until when. */
import { lookBack } from '../expr/match.ts';
import { formatInterval } from '../plan/interval.ts';
import type { OperatorSpec } from './graph.ts';

export function describeMatchState(spec: OperatorSpec & { tag: 'match' }): string {
  const per = spec.partitionBy.length === 0 ? '' : ' per key';
  const back = lookBack(spec);
  const numbered = spec.measures.some(({ navigations }) =>
    navigations.some(({ read }) => read.tag === 'match_number'),
  );
  return [
    'rows until the watermark passes their event time',
    `those of matches that have begun${reach(spec)}`,
    ...(back === 0 ? [] : [`the last ${back} row${back === 1 ? '' : 's'}${per}, never freed`]),
    ...(numbered ? [`one count${per}, never freed`] : []),
  ].join('; ');
}

function reach({ withinMicros, program, partitionBy }: OperatorSpec & { tag: 'match' }): string {
  if (withinMicros !== null) return `, at most of the last ${formatInterval(withinMicros)}`;
  // Every match has as many rows as the shortest, and its last row ends it.
  const rows = fewestRows(program) - 1;
  return `, at most ${rows}${partitionBy.length === 0 ? '' : ' per key'}`;
}

/** The fewest `match` instructions on a way to the end. */
function fewestRows(program: (OperatorSpec & { tag: 'match' })['program']): number {
  const best = new Map<number, number>();
  const next: [number, number][] = [[0, 0]];
  for (let step = next.shift(); step !== undefined; step = next.shift()) {
    const [at, rows] = step;
    if (rows >= (best.get(at) ?? Infinity)) continue;
    best.set(at, rows);
    const instruction = program[at];
    if (instruction?.tag === 'match') next.push([at + 1, rows + 1]);
    if (instruction?.tag === 'split')
      next.push(...instruction.targets.map((target): [number, number] => [target, rows]));
  }
  return best.get(program.length - 1) ?? 0;
}
