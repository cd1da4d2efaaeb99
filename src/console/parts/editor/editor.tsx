/**
 * An editor for SQL in our dialect. Its code is loaded when it is first shown; until then the text stands in its place.
 *
 * The text belongs to the editor: it is told of every change by `onChange`, and given another by the handle only.
 */
import { useEffect, useRef } from 'preact/hooks';
import type { Completions } from '../../../api/authoring/authoring-shapes.ts';
import { api } from '../../api/client.ts';
import './editor.css';
import type { EditorHandle } from './view.ts';

export type { EditorHandle } from './view.ts';

type Props = {
  /** The text at first. */
  text: string;
  label?: string;
  readOnly?: boolean;
  /** Stands in an empty editor. */
  hint?: string;
  onChange?(text: string): void;
  onRun?(): void;
  onFormat?(): void;
  /** Called once, when the editor is there. */
  onReady?(handle: EditorHandle): void;
};

let catalogue: Promise<Completions> | null = null;

/** Nobody completes sooner; until then rows of a preview may need the server more. */
const CATALOGUE_AFTER_MS = 1_000;

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Asked for once; again after a failure. */
export function loadCatalogue(): Promise<Completions> {
  catalogue ??= api.get<Completions>('/sql/completions').catch((thrown: unknown) => {
    catalogue = null;
    throw thrown;
  });
  return catalogue;
}

/** Its code, before it is shown: while a reader is still on another page. */
export const prepareEditor = (): void => {
  import('./view.ts').catch(() => {});
};

export function SqlEditor(props: Props) {
  const { text, readOnly = false } = props;
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const first = useRef(text);
  useEffect(() => {
    let handle: EditorHandle | null = null;
    let gone = false;
    const start = async (): Promise<void> => {
      const { makeEditor } = await import('./view.ts');
      const { current } = place;
      if (gone || current === null) return;
      const { label = 'SQL. Escape, then Tab, leaves the editor.', hint = '' } = latest.current;
      current.replaceChildren();
      handle = makeEditor(current, {
        text: first.current,
        label,
        hint,
        readOnly,
        onChange: (text) => latest.current.onChange?.(text),
        onRun: () => latest.current.onRun?.(),
        onFormat: () => latest.current.onFormat?.(),
      });
      latest.current.onReady?.(handle);
      await pause(CATALOGUE_AFTER_MS);
      const known = await loadCatalogue();
      if (!gone) handle.setCatalogue(known);
    };
    // Without its catalogue the editor only completes less.
    start().catch(() => {});
    return () => {
      gone = true;
      handle?.destroy();
    };
  }, [readOnly]);
  return (
    <div class="editor" ref={place}>
      <pre class="editor-waiting">{text}</pre>
    </div>
  );
}
