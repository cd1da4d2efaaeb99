/** Functions of the user's own that every query may call: the list, and one of them in the editor with its test bench. */
import { useLocation } from 'preact-iso';
import type { GlobalUdf } from '../../../api/functions/udf-shapes.ts';
import { useLoaded } from '../../api/load.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { FunctionForm } from './form.tsx';
import './page.css';

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
