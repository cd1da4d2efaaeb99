/** Ready calls, one language at a time. */
import { useState } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';
import './ingest-snippets.css';
import { ingestSnippets, ingestUrl } from '../lib/snippets.ts';

type Props = {
  table: string;
  /** Null: there is none yet. */
  pipelineId: string | null;
  /** Rows as somebody pasted them; the first is shown in the calls. */
  sample: string;
};

const USUAL_ROW = '{"id": 1}';

export function IngestSnippets({ table, pipelineId, sample }: Props) {
  const [shown, setShown] = useState('curl');
  const row =
    sample
      .split('\n')
      .find((line) => line.trim().startsWith('{'))
      ?.trim() ?? USUAL_ROW;
  const snippets = ingestSnippets(ingestUrl(location.origin, pipelineId, table), row);
  const snippet = snippets.find(({ name }) => name === shown);
  return (
    <div class="snippets">
      <div class="snippet-names" role="group" aria-label="Language">
        {snippets.map(({ name }) => (
          <button
            key={name}
            type="button"
            class="button small"
            aria-pressed={name === shown}
            onClick={() => setShown(name)}
          >
            {name}
          </button>
        ))}
        <CopyButton text={snippet?.code ?? ''} />
      </div>
      <pre class="sql">{snippet?.code}</pre>
    </div>
  );
}
