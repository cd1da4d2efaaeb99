/** Functions of the user's own that every query may call: the list, and one of them in the editor with its test bench. */
import { useLocation } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import type { GlobalUdf, UdfValidation } from '../../../api/functions/udf-shapes.ts';
import { api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { SqlEditor } from '../../parts/editor/editor.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { tell } from '../../parts/toasts.tsx';
import { FIRST_FUNCTION } from './function-text.ts';
import './page.css';
import { TestBench } from './test-bench.tsx';

const PAUSE_MS = 350;

export function FunctionsPage() {
  const { path, route } = useLocation();
  const id = path.split('/')[2] ?? '';
  const { data, failure, reload } = useLoaded<{ data: GlobalUdf[] }>('/udfs');
  const chosen = data?.data.find((candidate) => candidate.id === id) ?? null;
  return (
    <>
      <div class="page-head">
        <h1>Functions</h1>
        <p class="faint">
          JavaScript or TypeScript, called from SQL by name, each in a sandbox of its own.
        </p>
        <div class="actions">
          <a class="button" href="/functions">
            <Icon name="add" />
            New function
          </a>
        </div>
      </div>
      {failure !== null && <ProblemNote thrown={failure} />}
      <div class="functions">
        <nav class="panel function-list" aria-label="Stored functions">
          {data?.data.length === 0 && (
            <p class="faint function-none">
              None is stored yet. Write one beside, try it, and store it: every query may call it
              then.
            </p>
          )}
          {data?.data.map((fn) => (
            <a
              key={fn.id}
              href={`/functions/${fn.id}`}
              {...(fn.id === id ? { 'aria-current': 'page' as const } : {})}
            >
              <strong>{fn.name}</strong>
              <span class="faint">{fn.language}</span>
            </a>
          ))}
        </nav>
        {data !== null && (
          <FunctionForm
            key={chosen?.id ?? ''}
            stored={chosen}
            onStored={(stored) => {
              reload();
              route(`/functions/${stored}`);
            }}
            onDeleted={() => {
              reload();
              route('/functions');
            }}
          />
        )}
      </div>
    </>
  );
}

type FormProps = {
  stored: GlobalUdf | null;
  onStored(id: string): void;
  onDeleted(): void;
};

function FunctionForm({ stored, onStored, onDeleted }: FormProps) {
  const [text, setText] = useState(stored?.definition ?? FIRST_FUNCTION);
  const [failure, setFailure] = useState<unknown>(null);
  const [asking, setAsking] = useState(false);
  const found = useValidation(text);
  const store = async (): Promise<void> => {
    setFailure(null);
    try {
      const made = await api.post<GlobalUdf>('/udfs', { definition: text });
      tell(`${made.name}() is stored`);
      onStored(made.id);
    } catch (thrown) {
      setFailure(thrown);
    }
  };
  return (
    <div class="function-form">
      <section class="panel" aria-label="Definition">
        <div class="panel-head">
          <h2>{found?.udf_name ?? stored?.name ?? 'New function'}</h2>
          <div class="actions">
            {stored === null ? (
              <button
                type="button"
                class="button primary"
                disabled={found === null || found.reports.length > 0}
                onClick={() => void store()}
              >
                Store it
              </button>
            ) : (
              <button type="button" class="button danger" onClick={() => setAsking(true)}>
                <Icon name="trash" />
                Delete
              </button>
            )}
          </div>
        </div>
        <div class="function-text">
          <SqlEditor
            text={text}
            label="Definition. Escape, then Tab, leaves the editor."
            onChange={setText}
          />
        </div>
        <div class="function-reports" role="status">
          {found?.reports.map(({ code, message, hint }) => (
            <div key={message} class="note bad">
              <strong>{message}</strong>
              {hint !== undefined && <span>{hint}</span>}
              <span class="code">{code}</span>
            </div>
          ))}
          {stored !== null && text !== stored.definition && (
            <p class="note">
              A stored function does not change under the pipelines that call it: store this one
              under another name, or delete the old one first.
            </p>
          )}
        </div>
        {failure !== null && <ProblemNote thrown={failure} />}
      </section>
      <TestBench definition={text} />
      {asking && stored !== null && (
        <Dialog
          title={`Delete ${stored.name}()?`}
          action="Delete"
          danger
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await api.remove(`/udfs/${stored.id}`);
            tell(`${stored.name}() is deleted`);
            onDeleted();
          }}
        >
          <p>Pipelines that call it have a copy and go on. New queries can no longer call it.</p>
        </Dialog>
      )}
    </div>
  );
}

/** What the server thinks of the text, a moment after the last key. Null: not known yet. */
function useValidation(definition: string): UdfValidation | null {
  const [found, setFound] = useState<UdfValidation | null>(null);
  useEffect(() => {
    setFound(null);
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api
        .post<UdfValidation>('/udfs/validate', { definition }, { signal: stop.signal })
        .then(setFound, () => {});
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [definition]);
  return found;
}
