/** Everything that one open editor works on: its text and where that came from, what the planner says, the preview. */
import { effect, signal } from '@preact/signals';
import type { FormatAnswer } from '../../../api/authoring/authoring-shapes.ts';
import type { QueryTable } from '../../../api/authoring/diagnostic-shapes.ts';
import { api } from '../../api/client.ts';
import type { EditorHandle } from '../../parts/editor/editor.tsx';
import { tellFailure } from '../../parts/toasts.tsx';
import { type Draft, type Origin, putAside } from './draft.ts';
import { keepAside, keepDraft, keptAside, keptDraft } from './kept-draft.ts';
import { Preview } from './preview.ts';
import { Validation } from './validation.ts';

export class Desk {
  readonly text = signal('');
  readonly origin = signal<Origin | null>(null);
  /** Texts that were replaced, newest first. */
  readonly aside = signal<readonly string[]>(keptAside());
  readonly validation = new Validation();
  readonly preview = new Preview();
  /** Rows to be sent, as they were pasted. */
  readonly rows = signal('');
  /** Whether a preview writes to the query's sinks too. */
  readonly enableSinks = signal(false);
  /** Called when the writer, not the program, has changed the text. */
  onWritten: () => void = () => {};
  /** Whether a text was put here: an empty one counts. */
  opened = false;
  #editor: EditorHandle | null = null;
  #byProgram = false;
  readonly #stopMarks: () => void;

  constructor() {
    this.#stopMarks = effect(() => {
      const { value: answer } = this.validation.answer;
      if (answer === null) return;
      this.#editor?.setTables(answer.result.tables);
      this.#editor?.setFindings(answer.about, answer.findings);
    });
  }

  get editor(): EditorHandle | null {
    return this.#editor;
  }

  get tables(): readonly QueryTable[] {
    return this.validation.answer.value?.result.tables ?? [];
  }

  editorReady(editor: EditorHandle): void {
    this.#editor = editor;
    this.#byProgram = true;
    editor.setText(this.text.value);
    this.#byProgram = false;
    const { value: answer } = this.validation.answer;
    if (answer === null) return;
    editor.setTables(answer.result.tables);
    editor.setFindings(answer.about, answer.findings);
  }

  /** Goes on with the kept draft. */
  resume(draft: Draft): void {
    this.origin.value = draft.origin;
    this.replace(draft.text);
  }

  /**
   * What the draft was is put aside when its writer would miss it.
   * @param checkMs  until the planner is asked
   */
  open(draft: Draft, checkMs = 0): void {
    this.aside.value = putAside(this.aside.value, keptDraft());
    keepAside(this.aside.value);
    this.origin.value = draft.origin;
    this.replace(draft.text, checkMs);
  }

  /** The same draft with another text: formatted, a fix applied. */
  replace(text: string, checkMs = 0): void {
    this.opened = true;
    this.#byProgram = true;
    this.#editor?.setText(text);
    this.#byProgram = false;
    this.text.value = text;
    keepDraft({ text, origin: this.origin.value });
    this.validation.ask(text, checkMs);
  }

  changed(text: string): void {
    if (this.#byProgram) return;
    this.text.value = text;
    keepDraft({ text, origin: this.origin.value });
    this.validation.ask(text);
    this.onWritten();
  }

  /** As the server writes SQL; a text that it can not read stays as it is. */
  async format(): Promise<void> {
    const { value: query } = this.text;
    try {
      const formatted = await api.post<FormatAnswer>('/sql/format', { query });
      if (this.text.value !== query || formatted.query === query) return;
      this.replace(formatted.query);
      this.onWritten();
    } catch (thrown) {
      tellFailure(thrown);
    }
  }

  run(): Promise<void> {
    return this.preview.run(this.text.value, this.enableSinks.value);
  }

  /** The text lives on in a pipeline: as a draft nobody would miss it. */
  started(id: string, title: string): void {
    this.preview.end();
    const { value: text } = this.text;
    this.origin.value = { kind: 'pipeline', id, title, text };
    keepDraft({ text, origin: this.origin.value });
  }

  close(): void {
    this.#stopMarks();
    this.validation.stop();
    this.preview.end();
  }
}
