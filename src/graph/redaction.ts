/** Which operators see rows of tables that said errors.raw = 'redact': what they report of a row must not show it. */
import type { OperatorId, PhysicalGraph } from './graph.ts';

export function redactedOperators({ operators, edges }: PhysicalGraph): ReadonlySet<OperatorId> {
  const redacted = new Set<OperatorId>();
  for (const { id, spec } of operators)
    if (spec.tag === 'source' && spec.format.redactErrors === true) redacted.add(id);
  // The graph has no circle: every round reaches one operator more, or it is the last.
  for (let before = -1; before < redacted.size;) {
    before = redacted.size;
    for (const { from, to } of edges) if (redacted.has(from)) redacted.add(to);
  }
  return redacted;
}
