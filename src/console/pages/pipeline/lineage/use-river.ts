/** How wide the picture of the lineage is, and how it is moved. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

export function useWidth(frame: { current: HTMLDivElement | null }): number {
  const [width, setWidth] = useState(() => Math.max(0, Math.min(innerWidth, 1160) - 40));
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  return width;
}

/** Drags and turns of the wheel move along the line. */
export function useMove(
  frame: { current: HTMLDivElement | null },
  step: number,
  end: number,
  hold: (column: number) => void,
): void {
  const latest = useRef({ step, end, hold });
  latest.current = { step, end, hold };
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const by = (pixels: number): void => {
      const { step: width, end: column, hold: move } = latest.current;
      move(column + pixels / Math.max(1, width));
    };
    const wheel = (event: WheelEvent): void => {
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (Math.abs(sideways) < 1) return;
      event.preventDefault();
      by(sideways);
    };
    const down = (event: PointerEvent): void => {
      if (event.button !== 0) return;
      let x = event.clientX;
      const move = (next: PointerEvent): void => {
        if (next.buttons === 0) return stop();
        if (Math.abs(next.clientX - x) < 3) return;
        by(x - next.clientX);
        x = next.clientX;
      };
      const stop = (): void => {
        window.removeEventListener('pointermove', move);
        window.removeEventListener('pointerup', stop);
      };
      window.addEventListener('pointermove', move);
      window.addEventListener('pointerup', stop);
    };
    element.addEventListener('wheel', wheel, { passive: false });
    element.addEventListener('pointerdown', down);
    return () => {
      element.removeEventListener('wheel', wheel);
      element.removeEventListener('pointerdown', down);
    };
  }, [frame]);
}
