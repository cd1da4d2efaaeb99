/** Short notices of what an action did. They go by themselves, except failures, which wait to be read. */
import { signal } from '@preact/signals';
import { problemOf } from '../api/client.ts';
import { Icon } from './icon.tsx';

type Toast = { id: number; tone: 'good' | 'bad'; text: string; detail: string };

const toasts = signal<readonly Toast[]>([]);
let nextId = 1;

const STAY_MS = 4_000;

function show(toast: Omit<Toast, 'id'>): void {
  const id = nextId++;
  toasts.value = [...toasts.value.slice(-3), { id, ...toast }];
  if (toast.tone === 'good') setTimeout(() => dismiss(id), STAY_MS);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export const tell = (text: string): void => show({ tone: 'good', text, detail: '' });

export function tellFailure(thrown: unknown): void {
  const { error, hint = '', code = '' } = problemOf(thrown);
  show({
    tone: 'bad',
    text: error,
    detail: [hint, code].filter((part) => part !== '').join(' · '),
  });
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, tone, text, detail }) => (
        <div key={id} class={`note ${tone}`}>
          <div style={{ display: 'flex', gap: 'var(--gap-3)', alignItems: 'start' }}>
            <span style={{ flex: 1 }}>{text}</span>
            <button
              type="button"
              class="button quiet small"
              aria-label="Dismiss"
              onClick={() => dismiss(id)}
            >
              <Icon name="cross" />
            </button>
          </div>
          {detail !== '' && <span class="code">{detail}</span>}
        </div>
      ))}
    </div>
  );
}
