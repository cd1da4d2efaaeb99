/** One sentence that answers "why is nothing coming out?", with the way out beside it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { HealthFinding } from '../../../api/observe/health-shapes.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { Time } from '../../parts/time.tsx';
import { usePage } from './context.ts';

const LOOKS: Record<HealthFinding['level'], { tone: string; icon: IconName; word: string }> = {
  ok: { tone: 'good', icon: 'check', word: 'Healthy' },
  waiting: { tone: 'wait', icon: 'pause', word: 'Waiting' },
  warning: { tone: 'warn', icon: 'warning', word: 'Look at this' },
  failed: { tone: 'bad', icon: 'cross', word: 'Failed' },
  stopped: { tone: 'rest', icon: 'stop', word: 'At rest' },
};

const BUTTONS = {
  start: 'Start',
  restart: 'Restart',
  restart_without_state: 'Restart without state',
} as const;

export function HealthLine() {
  const health = usePage().feed.health.value;
  const [open, setOpen] = useState(false);
  if (health === null) return <div class="line health" aria-hidden="true" />;
  const { others } = health;
  return (
    <section class={`line health ${LOOKS[health.level].tone}`} aria-label="Health">
      <Finding finding={health}>
        {others.length > 0 && (
          <button
            type="button"
            class="line-button"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {others.length === 1 ? 'One more thing' : `${others.length} more things`}
          </button>
        )}
      </Finding>
      {open &&
        others.map((other) => (
          <div key={other.code} class={`line-part ${LOOKS[other.level].tone}`}>
            <Finding finding={other} />
          </div>
        ))}
    </section>
  );
}

type FindingProps = { finding: HealthFinding; children?: ComponentChildren };

function Finding({ finding, children }: FindingProps) {
  const { level, code, sentence, since } = finding;
  const { icon, word } = LOOKS[level];
  return (
    <>
      <div class="line-head">
        <span class="line-word">
          <Icon name={icon} />
          {word}
        </span>
        <strong>{sentence}</strong>
        <span class="line-aside">
          {children}
          {since !== null && (
            <span>
              for <Time at={since} show="for" />
            </span>
          )}
          <code>{code}</code>
        </span>
      </div>
      <Fix finding={finding} />
    </>
  );
}

/** What more rows mend: they can be sent from here. */
const WANT_ROWS = new Set<HealthFinding['code']>([
  'NO_ROWS_YET',
  'WINDOW_OPEN',
  'PARTITION_HOLDS_WATERMARK',
  'SOURCE_SILENT',
]);

/** Their rows are in the table of errors. */
const IN_ERRORS = new Set<HealthFinding['code']>(['ALL_BAD', 'SOME_BAD', 'ALL_LATE']);

function Fix({ finding: { fix, code, source } }: { finding: HealthFinding }) {
  const { ask, id, pipeline } = usePage();
  const table = pipeline.sources.find(
    (one) => one.table === source?.table && one.rows_url !== null && WANT_ROWS.has(code),
  )?.table;
  if (fix === null && table === undefined) return null;
  const { text = '', sql, action } = fix ?? {};
  return (
    <div class="line-fix">
      {text !== '' && <span>{text}</span>}
      {sql !== undefined && (
        <>
          <code class="line-sql">{sql}</code>
          <CopyButton text={sql} label="Copy SQL" />
        </>
      )}
      {table !== undefined && (
        <a class="button small" href={`/pipelines/${id}/send?table=${encodeURIComponent(table)}`}>
          Send rows
        </a>
      )}
      {IN_ERRORS.has(code) && (
        <a class="button small" href={`/pipelines/${id}/errors`}>
          See the rows
        </a>
      )}
      {action !== undefined && <FixButton action={action} onClick={() => ask(action)} />}
    </div>
  );
}

function FixButton({ action, onClick }: { action: keyof typeof BUTTONS; onClick(): void }) {
  return (
    <button type="button" class="button small" onClick={onClick}>
      {BUTTONS[action]}
    </button>
  );
}
