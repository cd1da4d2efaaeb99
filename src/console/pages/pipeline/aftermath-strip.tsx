/** After something was killed: what happens, as it is seen, until the sums hold again. */
import { CloseButton } from '../../parts/close-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { aftermathOf } from './aftermath.ts';
import { usePage } from './context.ts';

export function AftermathStrip() {
  const { feed } = usePage();
  const killing = feed.killing.value;
  const status = feed.status.value;
  if (killing === null || status === null) return null;
  const steps = aftermathOf(killing, status, feed.river.value, feed.proof.value);
  return (
    <section class="aftermath" aria-label="What happens after the failure">
      <ol aria-live="polite">
        {steps.map(({ key, title, detail, state }) => (
          <li
            key={key}
            class={state}
            {...(state === 'now' ? { 'aria-current': 'step' as const } : {})}
          >
            <span class="aftermath-mark">{state === 'done' && <Icon name="check" />}</span>
            <strong>{title}</strong>
            <span>{detail}</span>
          </li>
        ))}
      </ol>
      <CloseButton onClose={() => (feed.killing.value = null)} />
    </section>
  );
}
