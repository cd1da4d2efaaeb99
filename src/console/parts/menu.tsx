/** A button that opens a short list of actions. Arrow keys move, Escape and a click elsewhere close, focus goes back. */
import { useLayoutEffect, useId, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';

export type MenuEntry = {
  key: string;
  title: string;
  icon: IconName;
  danger?: boolean;
  /** Why it can not be chosen now; empty: it can. */
  unable?: string;
} & ({ onChoose(): void } | { /** Opens beside the console. */ href: string });

type Props = {
  label: string;
  entries: readonly MenuEntry[];
  icon?: IconName;
  /** Only the icon is shown. */
  compact?: boolean;
  /** Of the button. */
  look?: string;
};

export function Menu({ label, entries, icon = 'down', compact = false, look = 'button' }: Props) {
  const [open, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  // Before the next key, so that no arrow is lost.
  useLayoutEffect(() => {
    if (!open) return undefined;
    items(frame.current)[0]?.focus();
    const away = (event: Event): void => {
      if (!frame.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', away);
    return () => document.removeEventListener('pointerdown', away);
  }, [open]);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (!open) return;
    if (event.key === 'Escape') close();
    else if (event.key === 'Tab') setOpen(false);
    else if (event.key === 'ArrowDown') move(frame.current, 1);
    else if (event.key === 'ArrowUp') move(frame.current, -1);
    else return;
    if (event.key !== 'Tab') event.preventDefault();
  };
  return (
    <div class="menu" ref={frame} onKeyDown={onKey}>
      <button
        type="button"
        class={look}
        ref={button}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={id}
        {...(compact ? { 'aria-label': label, title: label } : {})}
        onClick={() => setOpen(!open)}
      >
        {icon !== 'down' && <Icon name={icon} />}
        {!compact && label}
        {icon === 'down' && <Icon name={icon} />}
      </button>
      <div class="menu-list" role="menu" id={id} aria-label={label} hidden={!open}>
        {entries.map((entry) => (
          <Item key={entry.key} entry={entry} close={close} />
        ))}
      </div>
    </div>
  );
}

function Item({ entry, close }: { entry: MenuEntry; close(): void }) {
  const { title, icon, danger = false, unable = '' } = entry;
  const shared = {
    role: 'menuitem' as const,
    tabIndex: -1,
    class: `menu-item ${danger ? 'danger' : ''}`,
  };
  const content = (
    <>
      <Icon name={icon} />
      {title}
    </>
  );
  if ('href' in entry)
    return (
      <a {...shared} href={entry.href} target="_blank" onClick={close}>
        {content}
      </a>
    );
  return (
    <button
      {...shared}
      type="button"
      aria-disabled={unable !== ''}
      title={unable}
      onClick={() => {
        if (unable !== '') return;
        close();
        entry.onChoose();
      }}
    >
      {content}
    </button>
  );
}

const items = (frame: HTMLElement | null): HTMLElement[] =>
  frame === null ? [] : [...frame.querySelectorAll<HTMLElement>('[role="menuitem"]')];

function move(frame: HTMLElement | null, by: number): void {
  const all = items(frame);
  const at = all.indexOf(document.activeElement as HTMLElement);
  all[(at + by + all.length) % all.length]?.focus();
}
