/** A button that opens a list of things to choose. Arrow keys go through it, Escape closes it. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';

export type Choice = { key: string; title: string; note?: string; onChoose(): void };

type Props = {
  label: ComponentChildren;
  items: readonly Choice[];
  /** Stands where there is nothing to choose. */
  empty?: string;
};

export function Choices({ label, items, empty = 'Nothing here' }: Props) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  // Before the next key, so that no arrow is lost.
  useLayoutEffect(() => {
    if (!open) return undefined;
    box.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const outside = (event: Event): void => {
      if (!(event.target instanceof Node && box.current?.contains(event.target) === true))
        setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    document.addEventListener('focusin', outside);
    return () => {
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('focusin', outside);
    };
  }, [open]);
  const close = (): void => {
    setOpen(false);
    box.current?.querySelector('button')?.focus();
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') close();
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const choices = [...(box.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const here = choices.indexOf(document.activeElement as HTMLElement);
    choices[(here + step + choices.length) % choices.length]?.focus();
  };
  return (
    <div class="choices" ref={box}>
      <button
        type="button"
        class="button"
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {label} <Icon name="down" />
      </button>
      {open && (
        <div class="choices-list" role="menu" tabIndex={-1} onKeyDown={key}>
          {items.length === 0 && <p class="choices-empty">{empty}</p>}
          {items.map(({ key: id, title, note, onChoose }) => (
            <button
              key={id}
              type="button"
              role="menuitem"
              class="choices-item"
              onClick={() => {
                close();
                onChoose();
              }}
            >
              <span>{title}</span>
              {note !== undefined && <span class="choices-note">{note}</span>}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
