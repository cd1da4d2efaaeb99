/** The operators that the query becomes; what is chosen is explained in the words of the physical plan. */
import { useMemo, useState } from 'preact/hooks';
import { Empty } from '../../parts/empty.tsx';
import { GraphView } from '../../parts/graph/graph.tsx';
import { graphOf } from '../../parts/graph/layout.ts';
import type { Desk } from './desk.ts';
import { operatorLines } from './plan-text.ts';

export function GraphPane({ desk }: { desk: Desk }) {
  const { value: whole } = desk.validation.whole;
  const [selected, select] = useState<string | null>(null);
  const api = whole?.graph ?? desk.preview.pipeline.value?.graph;
  const told = JSON.stringify(api ?? null);
  // Another answer with the same graph is drawn as before: nothing moves.
  const graph = useMemo(() => (told === 'null' ? null : graphOf(JSON.parse(told))), [told]);
  if (graph === null)
    return (
      <Empty title="The graph">
        <p>What the query becomes: sources, operators and sinks, and the rows between them.</p>
      </Empty>
    );
  const stale = (desk.validation.answer.value?.result.errors.length ?? 0) > 0;
  const flowing = desk.preview.phase.value === 'running';
  const lines = selected === null ? [] : operatorLines(whole?.physical ?? '', selected);
  return (
    <div class={`graph-pane ${stale ? 'stale' : ''}`}>
      <GraphView
        label="Graph of the query"
        graph={graph}
        selected={selected}
        onSelect={(id) => select((before) => (before === id ? null : id))}
        edgeClass={() => (flowing ? 'flowing' : '')}
      />
      {stale && <p class="graph-stale">As it was before the error</p>}
      {selected !== null && lines.length > 0 && (
        <div class="graph-told">
          <strong>{selected}</strong>
          {lines.map((line) => (
            <span key={line}>{line}</span>
          ))}
        </div>
      )}
    </div>
  );
}
