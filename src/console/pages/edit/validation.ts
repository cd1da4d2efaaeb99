/** What the planner says of the text as it is written: asked when the writer pauses; an answer about another text is dropped. */
import { signal } from '@preact/signals';
import type { QueryValidation } from '../../../api/pipelines/pipeline-shapes.ts';
import { api } from '../../api/client.ts';
import type { Finding } from '../../parts/editor/findings.ts';

export type Validated = { about: string; result: QueryValidation; findings: readonly Finding[] };

const PAUSE_MS = 250;

export class Validation {
  /** The newest answer; it may be of an older text. */
  readonly answer = signal<Validated | null>(null);
  /** The newest answer without errors: what the graph is drawn from while a text is broken. */
  readonly whole = signal<QueryValidation | null>(null);
  readonly failure = signal<unknown>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked: AbortController | null = null;

  ask(text: string, pauseMs = PAUSE_MS): void {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#timer = setTimeout(() => void this.#send(text), pauseMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#asked?.abort();
  }

  async #send(text: string): Promise<void> {
    if (text.trim() === '') {
      this.answer.value = null;
      this.whole.value = null;
      return;
    }
    const asked = new AbortController();
    this.#asked = asked;
    try {
      const body = { query: text };
      const result = await api.post<QueryValidation>('/pipelines/validate_query', body, {
        signal: asked.signal,
      });
      if (asked.signal.aborted) return;
      this.failure.value = null;
      this.answer.value = { about: text, result, findings: findingsIn(result) };
      if (result.errors.length === 0) this.whole.value = result;
    } catch (thrown) {
      if (!asked.signal.aborted) this.failure.value = thrown;
    }
  }
}

const findingsIn = ({ errors, warnings }: QueryValidation): Finding[] => [
  ...errors.map((error) => ({ ...error, severity: 'error' as const })),
  ...warnings.map((warning) => ({ ...warning, severity: 'warning' as const })),
];
