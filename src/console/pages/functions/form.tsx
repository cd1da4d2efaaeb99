/** A function in the editor: checked as it is written, stored or deleted, and called on the bench below. */
import { useEffect, useState } from 'preact/hooks';
import type { GlobalUdf, UdfValidation } from '../../../api/functions/udf-shapes.ts';
import { api } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { SqlEditor } from '../../parts/editor/editor.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { ReportNote } from '../../parts/report-note.tsx';
import { tell } from '../../parts/toasts.tsx';
import { FIRST_FUNCTION } from './function-text.ts';
import { TestBench } from './test-bench.tsx';

const PAUSE_MS = 350;

type FormProps = {
  stored: GlobalUdf | null;
  onStored(id: string): void;
  onDeleted(): void;
};

export function FunctionForm({ stored, onStored, onDeleted }: FormProps) {
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
        <Reports found={found} isChanged={stored !== null && text !== stored.definition} />
        {failure !== null && <ProblemNote thrown={failure} />}
      </section>
      <TestBench definition={text} />
      {asking && stored !== null && (
        <Deletion stored={stored} onClose={() => setAsking(false)} onDeleted={onDeleted} />
      )}
    </div>
  );
}

type ReportsProps = { found: UdfValidation | null; isChanged: boolean };

function Reports({ found, isChanged }: ReportsProps) {
  return (
    <div class="function-reports" role="status">
      {found?.reports.map((report) => (
        <ReportNote key={report.message} report={report} />
      ))}
      {isChanged && (
        <p class="note">
          A stored function does not change under the pipelines that call it: store this one under
          another name, or delete the old one first.
        </p>
      )}
    </div>
  );
}

type DeletionProps = { stored: GlobalUdf; onClose(): void; onDeleted(): void };

function Deletion({ stored, onClose, onDeleted }: DeletionProps) {
  return (
    <Dialog
      title={`Delete ${stored.name}()?`}
      action="Delete"
      danger
      onClose={onClose}
      onConfirm={async () => {
        await api.remove(`/udfs/${stored.id}`);
        tell(`${stored.name}() is deleted`);
        onDeleted();
      }}
    >
      <p>Pipelines that call it have a copy and go on. New queries can no longer call it.</p>
    </Dialog>
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
