/** One sentence that answers "why is nothing coming out?", and the way out. */
import type { Health } from '../../../api/observe/health-shapes.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import type { Pane } from './page.tsx';

const TONES = { ok: 'good', waiting: '', warning: 'warn', failed: 'bad', stopped: '' } as const;

/** Where on this page something can be done about it. */
const PANES: Partial<Record<Health['code'], { pane: Pane; label: string }>> = {
  NO_ROWS_YET: { pane: 'send', label: 'Send rows' },
  WINDOW_OPEN: { pane: 'send', label: 'Send rows' },
  SOURCE_SILENT: { pane: 'send', label: 'Send rows' },
  ALL_BAD: { pane: 'errors', label: 'See the rows' },
  SOME_BAD: { pane: 'errors', label: 'See the rows' },
  ALL_LATE: { pane: 'errors', label: 'See the rows' },
};

type Props = {
  health: Health;
  /** Whether a table of the query takes rows by HTTP. */
  takesRows: boolean;
  show(pane: Pane): void;
};

export function HealthLine({ health, takesRows, show }: Props) {
  const { level, sentence, fix, code } = health;
  const way = PANES[code];
  const usable = way !== undefined && (way.pane !== 'send' || takesRows);
  // Here rows are sent from the tab beside: an address to post to says less.
  const instead = usable && code === 'NO_ROWS_YET';
  return (
    <div class={`note health-line ${TONES[level]}`} role="status">
      <span>{sentence}</span>
      {fix !== null && !instead && <span class="health-fix">{fix.text}</span>}
      {fix?.sql !== undefined && (
        <span class="health-sql">
          <code>{fix.sql}</code>
          <CopyButton text={fix.sql} />
        </span>
      )}
      {usable && (
        <span class="health-sql">
          <button type="button" class="button small" onClick={() => show(way.pane)}>
            {way.label}
          </button>
        </span>
      )}
      <span class="code">{code}</span>
    </div>
  );
}
