/** One sentence that answers "why is nothing coming out?", and the way out. */
import type { Health } from '../../../api/observe/health-shapes.ts';
import { CopyButton } from '../../parts/copy-button.tsx';

const TONES = { ok: 'good', waiting: '', warning: 'warn', failed: 'bad', stopped: '' } as const;

export function HealthLine({ health }: { health: Health }) {
  const { level, sentence, fix, code } = health;
  return (
    <div class={`note health-line ${TONES[level]}`} role="status">
      <span>{sentence}</span>
      {fix !== null && <span class="health-fix">{fix.text}</span>}
      {fix?.sql !== undefined && (
        <span class="health-sql">
          <code>{fix.sql}</code>
          <CopyButton text={fix.sql} />
        </span>
      )}
      <span class="code">{code}</span>
    </div>
  );
}
