/** Calls the function as it stands in the editor, in the same sandbox that pipelines call it in. */
import { useEffect, useState } from 'preact/hooks';
import type { EvaluateAnswer } from '../../../api/authoring/authoring-shapes.ts';
import type { ServerInfo } from '../../../api/stream/detail-shapes.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { duration } from '../../lib/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { ReportNote } from '../../parts/report-note.tsx';
import { parametersOf, sampleCall } from './function-text.ts';

const CALLS_MAX = 100;

export function TestBench({ definition }: { definition: string }) {
  const { data: server } = useLoaded<ServerInfo>('/server');
  const parameters = parametersOf(definition);
  const shape = parameters.map(({ type }) => type).join();
  const [calls, setCalls] = useState('');
  const [touched, setTouched] = useState(false);
  const [answer, setAnswer] = useState<EvaluateAnswer | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    // The arguments follow the declaration until somebody writes their own.
    if (!touched) setCalls(sampleCall(definition));
    // oxlint-disable-next-line react/exhaustive-deps -- only a change of the parameters' types matters
  }, [shape, touched]);
  const lines = calls.split('\n').filter((line) => line.trim() !== '');
  const run = async (): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      setAnswer(await api.post<EvaluateAnswer>('/udfs/evaluate', { definition, calls: lines }));
    } catch (thrown) {
      setFailure(thrown);
    }
    setBusy(false);
  };
  return (
    <section class="panel" aria-label="Test bench">
      <div class="panel-head">
        <h2>Test bench</h2>
        <div class="actions">
          {server?.local === true && (
            <span class="bench-limit faint">An endless loop stops this local server.</span>
          )}
          <button
            type="button"
            class="button primary"
            disabled={busy || lines.length === 0 || lines.length > CALLS_MAX}
            onClick={() => void run()}
          >
            <Icon name="play" />
            Call it
          </button>
        </div>
      </div>
      <div class="panel-body bench">
        <div class="field">
          <label for="calls">Arguments</label>
          <textarea
            id="calls"
            class="input"
            rows={4}
            spellcheck={false}
            value={calls}
            onInput={(event) => {
              setTouched(true);
              setCalls(event.currentTarget.value);
            }}
          />
          <span class="help">
            A JSON array a line:{' '}
            {parameters.length === 0
              ? '[]'
              : `[${parameters.map(({ name, type }) => `${name} ${type}`).join(', ')}]`}
          </span>
        </div>
        {failure !== null && <ProblemNote thrown={failure} />}
        <Results answer={answer} lines={lines} />
      </div>
    </section>
  );
}

function Results({ answer, lines }: { answer: EvaluateAnswer | null; lines: readonly string[] }) {
  if (answer === null)
    return <p class="faint">The results stand here, with every digit, once you have called it.</p>;
  return (
    <div role="status" class="bench-results">
      {answer.reports.map((report) => (
        <ReportNote key={report.message} report={report} />
      ))}
      {answer.results.map(({ value, error, micros }, index) => (
        // Results are in the order of the calls and have no other name.
        <div key={`${index}`} class="bench-result">
          <code>{lines[index]}</code>
          <span aria-hidden="true">→</span>
          <code class={error === null ? 'good-text' : 'bad-text'}>{error ?? value ?? 'NULL'}</code>
          <span class="faint number">{duration(micros)}</span>
        </div>
      ))}
    </div>
  );
}
