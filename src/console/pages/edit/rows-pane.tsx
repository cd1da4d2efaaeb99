/** The rows of the preview as they come, and why none come. */
import { Icon } from '../../parts/icon.tsx';
import { Empty } from '../../parts/empty.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Results } from '../../parts/results/results.tsx';
import type { Desk } from './desk.ts';
import { HealthLine } from './health-line.tsx';
import { httpTables } from './http-tables.ts';
import type { Pane } from './page.tsx';

type Props = { desk: Desk; run(): void; show(pane: Pane): void };

export function RowsPane({ desk, run, show }: Props) {
  const { phase, outputs, failure, health } = desk.preview;
  if (phase.value === 'failed') return <Refused desk={desk} />;
  const none = outputs.value.every((output) => output.shown.value.came === 0);
  const { value: told } = health;
  // While rows are waited for it stands in their place.
  const speaks =
    !none && phase.value === 'running' && (told?.level === 'warning' || told?.level === 'failed');
  return (
    <div class="rows-pane">
      {speaks && told !== null && <HealthLine {...wayOut({ desk, show })} health={told} />}
      {failure.value !== null && <ProblemNote thrown={failure.value} />}
      <div class="rows-pane-results">
        <Results
          outputs={outputs.value}
          columnsOf={(table) => columnsOf(desk, table)}
          waiting={<Waiting desk={desk} run={run} show={show} />}
        >
          <PreviewButtons desk={desk} />
        </Results>
      </div>
    </div>
  );
}

const wayOut = ({ desk, show }: Pick<Props, 'desk' | 'show'>) => ({
  takesRows: httpTables(desk.tables, desk.text.value).length > 0,
  show,
});

/** Of the newest text without errors: usually the one that runs. */
const columnsOf = (desk: Desk, name: string) =>
  desk.validation.whole.value?.outputs.find(({ table }) => table === name)?.columns ?? null;

/** The planner's own list stands under Problems; here its first sentence. */
function Refused({ desk }: { desk: Desk }) {
  return (
    <div class="pane-note">
      <ProblemNote thrown={desk.preview.failure.value} />
    </div>
  );
}

function Waiting({ desk, run, show }: Props) {
  switch (desk.preview.phase.value) {
    case 'starting':
    case 'running':
      return <Expected desk={desk} show={show} />;
    default:
      if (desk.text.value.trim() === '') return <NoQuery />;
      return (
        <Empty title="Rows come here">
          <p>
            A preview runs the query at once, on real rows, and shows them as they come. Nothing is
            written anywhere, and it ends when you leave.
          </p>
          <button type="button" class="button primary" onClick={run}>
            <Icon name="play" /> Run preview
          </button>
        </Empty>
      );
  }
}

/** Lines where rows will be, and what keeps them. */
function Expected({ desk, show }: Pick<Props, 'desk' | 'show'>) {
  const { value: told } = desk.preview.health;
  return (
    <div class="rows-waiting" aria-busy="true">
      <span class="rows-waiting-line" />
      <span class="rows-waiting-line" />
      <span class="rows-waiting-line" />
      {told === null || told.level === 'ok' ? (
        <p>{desk.preview.phase.value === 'starting' ? 'Starting…' : 'Running…'}</p>
      ) : (
        <HealthLine {...wayOut({ desk, show })} health={told} />
      )}
    </div>
  );
}

function NoQuery() {
  return (
    <Empty title="Rows come here">
      <p>
        As soon as there is a query: choose one under Examples, or paste rows of your own under Send
        rows. A preview then shows what comes out while you go on writing.
      </p>
      <a class="button" href="/">
        See what the examples do
      </a>
    </Empty>
  );
}

function PreviewButtons({ desk }: { desk: Desk }) {
  const { phase, firstRowMs, pipeline } = desk.preview;
  // Rows that the reader has to send say nothing of how fast it starts.
  const awaited = pipeline.value?.sources.some(({ rows_url: url }) => url !== null) === true;
  const outputs = desk.validation.whole.value?.outputs ?? [];
  const writes = outputs.some(({ connector }) => connector !== 'preview');
  return (
    <>
      {writes && (
        <label class="results-sinks" title="From the next run on">
          <input
            type="checkbox"
            checked={desk.enableSinks.value}
            onChange={({ currentTarget }) => (desk.enableSinks.value = currentTarget.checked)}
          />
          write to the sinks too
        </label>
      )}
      {firstRowMs.value !== null && !awaited && (
        <span class="results-first" title="From the command to the first row">
          first row after {firstRowMs.value} ms
        </span>
      )}
      {phase.value === 'running' && (
        <button type="button" class="button small" onClick={() => desk.preview.end()}>
          <Icon name="stop" /> Stop
        </button>
      )}
      {phase.value === 'ended' && <span class="badge">Ended</span>}
    </>
  );
}
