/** The size of an element, measured before the first paint and whenever it changes. */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Size } from './layout.ts';

export function useSize(element: { current: HTMLElement | null }): Size {
  const [size, setSize] = useState<Size>({ width: 800, height: 360 });
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const { width, height } = current.getBoundingClientRect();
    if (width > 0 && height > 0) setSize({ width, height });
  }, [element]);
  useEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return;
      const { width, height } = entry.contentRect;
      if (width === 0 || height === 0) return;
      setSize((before) =>
        before.width === width && before.height === height ? before : { width, height },
      );
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return size;
}
