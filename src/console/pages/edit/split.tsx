/** A bar between two parts that are made larger and smaller by it; where it stands is kept in this browser. */
import { useCallback, useState } from 'preact/hooks';
import { keep, kept } from '../../lib/kept.ts';

/** In percent of the whole. */
export type SplitState = { at: number; move(at: number): void };

const LEAST = 18;
const MOST = 82;
const STEP = 2;

const within = (at: number): number => Math.min(MOST, Math.max(LEAST, at));

export function useSplit(name: string, usual: number): SplitState {
  const key = `thalweg.split.${name}`;
  const [at, setAt] = useState(() => {
    const before = Number(kept(key) ?? Number.NaN);
    return Number.isFinite(before) ? within(before) : usual;
  });
  const move = useCallback(
    (next: number) => {
      setAt(within(next));
      keep(key, String(within(next)));
    },
    [key],
  );
  return { at, move };
}

type Props = { split: SplitState; direction: 'across' | 'down'; label: string };

export function SplitBar({ split: { at, move }, direction, label }: Props) {
  const across = direction === 'across';
  const drag = (event: PointerEvent): void => {
    const bar = event.currentTarget as HTMLElement;
    const whole = bar.parentElement?.getBoundingClientRect();
    if (whole === undefined) return;
    event.preventDefault();
    bar.setPointerCapture(event.pointerId);
    const follow = ({ clientX, clientY }: PointerEvent): void =>
      move(
        across
          ? ((clientX - whole.left) / whole.width) * 100
          : ((clientY - whole.top) / whole.height) * 100,
      );
    const end = (): void => {
      bar.removeEventListener('pointermove', follow);
      bar.removeEventListener('lostpointercapture', end);
    };
    bar.addEventListener('pointermove', follow);
    bar.addEventListener('lostpointercapture', end);
  };
  const key = (event: KeyboardEvent): void => {
    const less = across ? 'ArrowLeft' : 'ArrowUp';
    const more = across ? 'ArrowRight' : 'ArrowDown';
    if (event.key !== less && event.key !== more) return;
    event.preventDefault();
    move(at + (event.key === more ? STEP : -STEP));
  };
  return (
    <div
      class={`split-bar ${direction}`}
      role="separator"
      aria-label={label}
      aria-orientation={across ? 'vertical' : 'horizontal'}
      aria-valuenow={Math.round(at)}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      tabIndex={0}
      onPointerDown={drag}
      onKeyDown={key}
    />
  );
}
