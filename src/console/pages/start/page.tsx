/** The first five minutes: what this is, seven queries that run at a click, own rows, what runs already, how to deploy. */
import { useLocation } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import type { Example } from '../../../api/examples/example-shapes.ts';
import { loadExamples } from '../../api/examples.ts';
import { Deploy } from '../../parts/deploy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { pasted } from '../edit/pasted.ts';
import { Art, Riverbed } from './art.tsx';
import './page.css';
import { RunningNow } from './running-now.tsx';

export function StartPage() {
  const [examples, failure] = useExamples();
  useEffect(() => {
    // The next page, while this one is read.
    const idle = setTimeout(prepare, 300);
    return () => clearTimeout(idle);
  }, []);
  return (
    <div class="start">
      <header class="start-hero">
        <Riverbed />
        <h1>
          Streaming SQL that survives every crash, with each result committed <em>exactly once</em>.
        </h1>
        <p>
          Write a query, watch its rows flow, start it. It runs on Cloudflare Durable Objects, and
          right now on your machine: nothing to set up.
        </p>
      </header>
      <RunningNow />
      <section aria-labelledby="start-examples">
        <h2 id="start-examples">Pick one: it runs at once</h2>
        {failure !== null && <ProblemNote thrown={failure} />}
        <ul class="start-cards">
          {(examples ?? PLACEHOLDERS).map((example, index) =>
            example === null ? (
              <li key={index} class="start-card waiting" />
            ) : (
              <Card key={example.id} example={example} />
            ),
          )}
          <OwnRows />
        </ul>
      </section>
      <section class="start-deploy-part" aria-labelledby="start-deploy">
        <h2 id="start-deploy">Then deploy it</h2>
        <Deploy />
      </section>
    </div>
  );
}

async function prepare(): Promise<void> {
  const { prepareEditor } = await import('../edit/prepare.ts');
  prepareEditor();
}

const PLACEHOLDERS: readonly null[] = Array.from({ length: 7 }, () => null);

function useExamples(): [readonly Example[] | null, unknown] {
  const [examples, setExamples] = useState<readonly Example[] | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    let gone = false;
    loadExamples().then(
      (loaded) => !gone && setExamples(loaded),
      (thrown: unknown) => !gone && setFailure(thrown),
    );
    return () => {
      gone = true;
    };
  }, []);
  return [examples, failure];
}

function Card({ example: { id, title, summary, teaches } }: { example: Example }) {
  return (
    <li class="start-card">
      <Art example={id} />
      <h3>
        <a href={`/pipelines/new?example=${encodeURIComponent(id)}`}>{title}</a>
      </h3>
      <p>{summary}</p>
      <p class="start-teaches">
        {teaches.map((what) => (
          <span key={what}>{what}</span>
        ))}
      </p>
    </li>
  );
}

function OwnRows() {
  const { route } = useLocation();
  const [rows, setRows] = useState('');
  const go = (event: Event): void => {
    event.preventDefault();
    pasted.value = rows;
    route('/pipelines/new?paste');
  };
  return (
    <li class="start-card own">
      <form onSubmit={go}>
        <h3>
          <label for="own-rows">Or paste your own JSON</label>
        </h3>
        <textarea
          id="own-rows"
          class="input"
          spellcheck={false}
          value={rows}
          placeholder={'{"id": 1, "city": "Basel", "at": "2026-01-01T12:00:00Z"}\n{"id": 2, …'}
          onInput={({ currentTarget }) => setRows(currentTarget.value)}
        />
        <p>The table is guessed; each row is accepted, or refused with the reason.</p>
        <button type="submit" class="button">
          {rows.trim() === '' ? 'Start from rows' : 'Make a table and run'} <Icon name="right" />
        </button>
      </form>
    </li>
  );
}
