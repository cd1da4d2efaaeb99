/** What the address asks for, put on the desk: an example (which runs at once), a pipeline's query, pasted rows, the draft. */
import { useLocation } from 'preact-iso';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { z } from 'zod';
import type { InferAnswer } from '../../../api/authoring/authoring-shapes.ts';
import type { PipelineSchema } from '../../../api/pipelines/pipeline-shapes.ts';
import { api, ApiError } from '../../api/client.ts';
import { loadExamples } from '../../api/examples.ts';
import type { Desk } from './desk.ts';
import { type Draft, opening, type Wanted, wantedBy } from './draft.ts';
import { withTable } from './http-tables.ts';
import { keptDraft } from './kept-draft.ts';
import { pasted } from './pasted.ts';
import { sendRows } from './send-rows.ts';

export type Opened = {
  failure: unknown;
  /** The draft is its writer's own: whether what the address asks for may take its place. */
  question: Wanted | null;
  answer(replace: boolean): void;
};

/** What runs at once is planned by that; asking the planner too would only keep its rows waiting. */
const ROWS_FIRST_MS = 700;

export function useOpening(desk: Desk, show: (pane: 'rows' | 'send') => void): Opened {
  const { query, route } = useLocation();
  const [failure, setFailure] = useState<unknown>(null);
  const [question, setQuestion] = useState<Wanted | null>(null);
  const { kind, id } = flat(wantedBy(query));

  const open = useCallback(
    async (wanted: Wanted): Promise<void> => {
      try {
        setFailure(null);
        if (wanted.kind === 'paste') await openPasted(desk, show);
        else if (wanted.kind !== 'draft') {
          const runs = wanted.kind === 'example';
          desk.open(await load(wanted), runs ? ROWS_FIRST_MS : 0);
          if (runs) {
            show('rows');
            await desk.run();
          }
        }
      } catch (thrown) {
        setFailure(thrown);
      }
    },
    [desk, show],
  );

  useEffect(() => {
    const wanted = whole(kind, id);
    // The address follows what is written; the text is there already.
    if (wanted.kind === 'draft' && desk.opened) return;
    const draft = keptDraft();
    const { show: what } = opening(wanted, draft);
    if (what === 'wanted') {
      void open(wanted);
      return;
    }
    desk.resume(draft ?? { text: '', origin: null });
    if (what === 'question') setQuestion(wanted);
    else if (wanted.kind === 'example') void desk.run();
  }, [desk, kind, id, open]);

  const answer = (replace: boolean): void => {
    setQuestion(null);
    if (replace && question !== null) void open(question);
    else route('/pipelines/new?draft', true);
  };
  return { failure, question, answer };
}

const flat = (wanted: Wanted): { kind: Wanted['kind']; id: string } => ({
  kind: wanted.kind,
  id: 'id' in wanted ? wanted.id : '',
});

const whole = (kind: Wanted['kind'], id: string): Wanted =>
  kind === 'example' || kind === 'pipeline' ? { kind, id } : { kind };

type Source = Extract<Wanted, { id: string }>;

async function load({ kind, id }: Source): Promise<Draft> {
  const { title, text } = kind === 'example' ? await exampleOf(id) : await pipelineOf(id);
  return { text, origin: { kind, id, title, text } };
}

type Titled = { title: string; text: string };

async function exampleOf(id: string): Promise<Titled> {
  const found = (await loadExamples()).find((example) => example.id === id);
  if (found !== undefined) return { title: found.title, text: found.query };
  throw new ApiError(404, {
    error: `there is no example ${id}`,
    hint: 'The menu Examples has all that there are.',
  });
}

/** Its functions stand in front, unless the text has them itself. */
async function pipelineOf(id: string): Promise<Titled> {
  const found = await api.get<z.infer<typeof PipelineSchema>>(
    `/pipelines/${encodeURIComponent(id)}`,
  );
  const functions = found.udfs
    .map(({ definition }) => definition.trim())
    .filter((definition) => !found.query.includes(definition))
    .map((definition) => (definition.endsWith(';') ? definition : `${definition};`));
  return { title: found.name, text: [...functions, found.query].join('\n\n') };
}

/** Rows from the start page: a table is guessed, a query reads it, the preview runs, and the rows are sent into it. */
async function openPasted(desk: Desk, show: (pane: 'rows' | 'send') => void): Promise<void> {
  const rows = pasted.value;
  pasted.value = '';
  if (rows.trim() === '') {
    desk.open({ text: '', origin: null });
    show('send');
    return;
  }
  desk.rows.value = rows;
  show('send');
  const guessed = await api.post<InferAnswer>('/schemas/infer', { rows, table: 'my_rows' });
  desk.open({ text: withTable('', guessed.sql, guessed.table), origin: null });
  await desk.run();
  await sendRows(desk, guessed.table);
  show('rows');
}
