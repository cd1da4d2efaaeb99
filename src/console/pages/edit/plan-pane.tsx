/** The plan as text: what EXPLAIN says. */
import { useState } from 'preact/hooks';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Empty } from '../../parts/empty.tsx';
import type { Desk } from './desk.ts';

export function PlanPane({ desk }: { desk: Desk }) {
  const [physical, choose] = useState(false);
  const { value: whole } = desk.validation.whole;
  if (whole === null)
    return (
      <Empty title="The plan">
        <p>
          What <code>EXPLAIN</code> says of the query: the logical plan, and the operators with
          their state and how long they keep it.
        </p>
      </Empty>
    );
  const text = physical ? whole.physical : whole.logical;
  return (
    <div class="plan-pane">
      <div class="plan-bar">
        <div class="switch" role="group" aria-label="Which plan">
          <button type="button" aria-pressed={!physical} onClick={() => choose(false)}>
            Logical
          </button>
          <button type="button" aria-pressed={physical} onClick={() => choose(true)}>
            Physical
          </button>
        </div>
        <CopyButton text={text} />
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} aria-label={physical ? 'Physical plan' : 'Logical plan'}>
        {text}
      </pre>
    </div>
  );
}
