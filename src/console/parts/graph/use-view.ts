/** Moving and zooming a drawing with pointer, wheel and keys. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { GraphLayout, PlacedNode, Size } from './layout.ts';
import { fit, pan, reveal, type View, zoom } from './view-box.ts';

export type ViewHandles = {
  view: View;
  zoom(factor: number): void;
  fit(): void;
  reveal(node: PlacedNode): void;
  handlers: {
    onPointerDown(event: PointerEvent): void;
    onKeyDown(event: KeyboardEvent): void;
  };
};

const WHEEL = 0.002;

export function useView(
  frame: { current: HTMLElement | null },
  drawn: GraphLayout,
  room: Size,
): ViewHandles {
  const [view, setView] = useState<View>(() => fit(drawn, room));
  const latest = useRef({ drawn, room });
  latest.current = { drawn, room };
  useEffect(() => setView(fit(drawn, room)), [drawn, room]);

  const zoomBy = useCallback(
    (factor: number) =>
      setView((before) =>
        zoom(before, factor, {
          x: latest.current.room.width / 2,
          y: latest.current.room.height / 2,
        }),
      ),
    [],
  );
  const fitNow = useCallback(() => setView(fit(latest.current.drawn, latest.current.room)), []);

  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const turn = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = element.getBoundingClientRect();
      const at = { x: event.clientX - box.x, y: event.clientY - box.y };
      setView((before) => zoom(before, Math.exp(-event.deltaY * WHEEL), at));
    };
    element.addEventListener('wheel', turn, { passive: false });
    return () => element.removeEventListener('wheel', turn);
  }, [frame]);

  const drag = useCallback((event: PointerEvent): void => {
    const element = event.currentTarget as HTMLElement;
    if (event.button !== 0 || (event.target as HTMLElement).closest('button') !== null) return;
    element.setPointerCapture(event.pointerId);
    let { clientX, clientY } = event;
    const move = (next: PointerEvent): void => {
      const dx = next.clientX - clientX;
      const dy = next.clientY - clientY;
      ({ clientX, clientY } = next);
      setView((before) => pan(before, dx, dy, latest.current.drawn, latest.current.room));
    };
    const end = (): void => {
      element.removeEventListener('pointermove', move);
      element.removeEventListener('pointerup', end);
      element.removeEventListener('pointercancel', end);
    };
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', end);
    element.addEventListener('pointercancel', end);
  }, []);

  const key = useCallback(
    (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '+' || event.key === '=') zoomBy(1.25);
      else if (event.key === '-') zoomBy(0.8);
      else if (event.key === '0') fitNow();
    },
    [zoomBy, fitNow],
  );

  return {
    view,
    zoom: zoomBy,
    fit: fitNow,
    reveal: (node) => setView((before) => reveal(before, node, room)),
    handlers: { onPointerDown: drag, onKeyDown: key },
  };
}
