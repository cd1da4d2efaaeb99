/** A question before something that cannot be taken back. The browser keeps focus inside and closes it with Escape. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ProblemNote } from './problem-note.tsx';

type Props = {
  title: string;
  /** What the button says, a verb. */
  action: string;
  danger?: boolean;
  onConfirm(): Promise<void>;
  onClose(): void;
  /** The consequence, in words. */
  children: ComponentChildren;
};

export function Dialog({ title, action, danger = false, onConfirm, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => element.current?.showModal(), []);
  const confirm = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    try {
      await onConfirm();
      onClose();
    } catch (thrown) {
      setFailure(thrown);
      setBusy(false);
    }
  };
  return (
    <dialog class="dialog" ref={element} aria-label={title} onClose={onClose}>
      <form method="dialog" onSubmit={(event) => void confirm(event)}>
        <h2>{title}</h2>
        {children}
        {failure !== null && <ProblemNote thrown={failure} />}
        <div class="buttons">
          <button type="button" class="button" onClick={() => element.current?.close()}>
            Cancel
          </button>
          <button type="submit" class={`button ${danger ? 'danger' : 'primary'}`} disabled={busy}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
