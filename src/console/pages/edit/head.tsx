/** What can be done with the text: examples, earlier drafts, functions, format, run, start. */
import { useEffect, useState } from 'preact/hooks';
import type { Example } from '../../../api/examples/example-shapes.ts';
import { loadExamples } from '../../api/examples.ts';
import { functionsIn } from '../../parts/editor/statement.ts';
import { Icon } from '../../parts/icon.tsx';
import { Choices } from './choices.tsx';
import type { Desk } from './desk.ts';
import { titleOf } from './draft.ts';

type Props = { desk: Desk; run(): void; start(): void; openExample(id: string): void };

export function Head({ desk, run, start, openExample }: Props) {
  const empty = desk.text.value.trim() === '';
  const errors = desk.validation.answer.value?.result.errors.length ?? 0;
  const { value: phase } = desk.preview.phase;
  const running = phase === 'running' || phase === 'starting';
  return (
    <div class="page-head edit-head">
      <h1>
        <Title desk={desk} />
      </h1>
      <div class="actions">
        <ExamplesMenu desk={desk} openExample={openExample} />
        {desk.aside.value.length > 0 && <AsideMenu desk={desk} />}
        <FunctionsMenu desk={desk} />
        <button
          type="button"
          class="button"
          disabled={empty}
          title="Ctrl-Shift-F"
          onClick={() => void desk.format()}
        >
          <Icon name="format" /> Format
        </button>
        <button
          type="button"
          class={`button ${running ? '' : 'primary'}`}
          disabled={empty}
          title="Ctrl-Enter"
          onClick={run}
        >
          <Icon name={running ? 'restart' : 'play'} /> {running ? 'Run again' : 'Run preview'}
        </button>
        <button
          type="button"
          class={`button ${running ? 'primary' : ''}`}
          disabled={empty || errors > 0}
          title={errors > 0 ? 'The query has errors' : undefined}
          onClick={start}
        >
          <Icon name="flag" /> Start…
        </button>
      </div>
    </div>
  );
}

function Title({ desk }: { desk: Desk }) {
  const { value: origin } = desk.origin;
  if (origin === null) return <>New pipeline</>;
  const changed = desk.text.value !== origin.text;
  return (
    <>
      {origin.title}
      {changed && (
        <button
          type="button"
          class="button quiet small"
          onClick={() => desk.open({ text: origin.text, origin })}
        >
          changed · put back
        </button>
      )}
    </>
  );
}

function useExamples(): readonly Example[] {
  const [examples, setExamples] = useState<readonly Example[]>([]);
  useEffect(() => {
    let gone = false;
    loadExamples().then(
      (loaded) => {
        if (!gone) setExamples(loaded);
      },
      () => {},
    );
    return () => {
      gone = true;
    };
  }, []);
  return examples;
}

function ExamplesMenu({ desk, openExample }: Pick<Props, 'desk' | 'openExample'>) {
  const examples = useExamples().map(({ id, title, summary }) => ({
    key: id,
    title,
    note: summary,
    onChoose: () => openExample(id),
  }));
  const empty = {
    key: '',
    title: 'An empty query',
    note: 'What you wrote is kept under Drafts',
    onChoose: () => {
      desk.open({ text: '', origin: null });
      desk.onWritten();
    },
  };
  const items = desk.text.value.trim() === '' ? examples : [...examples, empty];
  return <Choices label="Examples" items={items} />;
}

function linesOf(text: string): string {
  const lines = text.trim().split('\n').length;
  return lines === 1 ? '1 line' : `${lines} lines`;
}

function AsideMenu({ desk }: { desk: Desk }) {
  const items = desk.aside.value.map((text, index) => ({
    key: String(index),
    title: titleOf(text),
    note: linesOf(text),
    onChoose: () => {
      desk.open({ text, origin: null });
      desk.onWritten();
    },
  }));
  return <Choices label="Drafts" items={items} />;
}

const FUNCTION = `CREATE FUNCTION shout(words TEXT) RETURNS TEXT LANGUAGE javascript AS $$
  return words.toUpperCase() + '!';
$$;

`;

/** Those that the text defines; JavaScript that runs for every row. */
function FunctionsMenu({ desk }: { desk: Desk }) {
  const found = functionsIn(desk.text.value);
  const items = [
    ...found.map(({ name, signature, from }) => ({
      key: name,
      title: name,
      note: signature,
      onChoose: () => desk.editor?.reveal(from),
    })),
    {
      key: '+',
      title: 'Add a function',
      note: 'JavaScript in CREATE FUNCTION, called like any other',
      onChoose: () => {
        desk.replace(FUNCTION + desk.text.value);
        desk.onWritten();
        desk.editor?.reveal(FUNCTION.indexOf('return'));
      },
    },
  ];
  const label = found.length === 0 ? 'Functions' : `Functions (${found.length})`;
  return <Choices label={label} items={items} />;
}
