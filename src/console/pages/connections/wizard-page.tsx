/** Describes a table step by step; the SQL beside it is always what the form says. */
import { useLocation, useRoute } from 'preact-iso';
import { useMemo, useState } from 'preact/hooks';
import type { Connector } from '../../../api/meta/connector-shapes.ts';
import { useLoaded } from '../../api/load.ts';
import { Empty } from '../../parts/empty.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { ConnectorIcon } from './connector-icon.tsx';
import { directionsOf, type Draft, draftProblems, newDraft, sqlOf, tableProblem } from './draft.ts';
import { OptionFields } from './option-fields.tsx';
import './page.css';
import { Result } from './result.tsx';
import { SchemaStep } from './schema-step.tsx';

export function WizardPage() {
  const { params } = useRoute();
  const { data, failure } = useLoaded<{ data: Connector[] }>('/connectors');
  const connector = data?.data.find(({ id }) => id === params['connector']);
  if (failure !== null) return <ProblemNote thrown={failure} />;
  if (data === null) return <div class="page-head" />;
  if (connector === undefined)
    return (
      <Empty title={`There is no connector ${params['connector'] ?? ''}`}>
        <a class="button" href="/connections/new">
          Choose one of those there are
        </a>
      </Empty>
    );
  return <Wizard key={connector.id} connector={connector} />;
}

function Wizard({ connector }: { connector: Connector }) {
  const { query } = useLocation();
  const directions = directionsOf(connector);
  const first = query['as'] === 'sink' && connector.sink ? 'sink' : (directions[0] ?? 'source');
  const [draft, setDraft] = useState<Draft>(() => newDraft(connector, first));
  const [sample, setSample] = useState('');
  const change = (part: Partial<Draft>): void => setDraft((before) => ({ ...before, ...part }));
  const sql = useMemo(() => sqlOf(draft, connector), [draft, connector]);
  const problems = draftProblems(draft, connector);
  const wrongName = tableProblem(draft.table);
  return (
    <>
      <div class="page-head">
        <ConnectorIcon connector={connector} />
        <h1>{connector.name}</h1>
        <p class="faint">{connector.description}</p>
      </div>
      <div class="wizard">
        <form class="wizard-form" onSubmit={(event) => event.preventDefault()}>
          <section class="panel panel-body wizard-step" aria-label="The table">
            {directions.length > 1 && (
              <fieldset class="choices">
                <legend>Used as</legend>
                {directions.map((direction) => (
                  <label key={direction}>
                    <input
                      type="radio"
                      name="direction"
                      checked={draft.direction === direction}
                      onChange={() => setDraft(newDraft(connector, direction))}
                    />
                    {direction}
                  </label>
                ))}
              </fieldset>
            )}
            <div class="field">
              <label for="table">Name in SQL</label>
              <input
                id="table"
                class="input"
                value={draft.table}
                aria-invalid={wrongName !== ''}
                onInput={(event) => change({ table: event.currentTarget.value })}
              />
              {wrongName !== '' && <span class="wrong">{wrongName}</span>}
            </div>
          </section>
          <OptionFields
            connector={connector}
            draft={draft}
            onChange={(options) => change({ options })}
          />
          {connector.custom_schemas && (
            <SchemaStep
              draft={draft}
              sample={sample}
              onSample={setSample}
              onChange={change}
              sql={sql}
            />
          )}
        </form>
        <Result draft={draft} connector={connector} sql={sql} problems={problems} sample={sample} />
      </div>
    </>
  );
}
