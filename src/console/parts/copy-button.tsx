/** Copies a text, and says that it has. */
import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { tellFailure } from './toasts.tsx';

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    } catch (thrown) {
      tellFailure(thrown);
    }
  };
  return (
    <button type="button" class="button small" onClick={() => void copy()}>
      <Icon name={done ? 'check' : 'copy'} />
      <span aria-live="polite">{done ? 'Copied' : label}</span>
    </button>
  );
}
