/** Rows in, rows out, nothing lost, nothing doubled: always in sight, with what it rests on. */
import { useComputed } from '@preact/signals';
import { Icon } from '../../parts/icon.tsx';
import { usePage } from './context.ts';
import { invariantOf } from './invariant.ts';

export function InvariantLine() {
  const { feed, id } = usePage();
  const line = useComputed(() =>
    invariantOf(feed.proof.value, feed.status.value?.totals.rows_in ?? null),
  ).value;
  const icon = line.tone === 'bad' ? 'warning' : line.tone === 'good' ? 'check' : 'pause';
  return (
    <section class={`line invariant ${line.tone}`} aria-label="Exactly once">
      <details class="line-more">
        <summary class="line-head">
          <span class="line-word">
            <Icon name={icon} />
            Exactly once
          </span>
          <span class="invariant-sums">{line.sums}</span>
          <strong class="invariant-verdict">{line.verdict}</strong>
          <span class="line-aside line-how">How is this known?</span>
        </summary>
        {line.flaws.length > 0 && (
          <ul class="invariant-flaws">
            {line.flaws.map((flaw) => (
              <li key={flaw}>{flaw}</li>
            ))}
          </ul>
        )}
        <ul class="invariant-because">
          {line.because.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
          <li>
            All of it can be checked from the bucket alone: <code>npm run verify</code>, or{' '}
            <a href={`/api/v1/pipelines/${id}/audit`} target="_blank" rel="noreferrer">
              the hash-chained audit
            </a>
            .
          </li>
        </ul>
      </details>
    </section>
  );
}
