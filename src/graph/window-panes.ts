/** How long the stretches are that aligned windows are put together from. */
import type { WindowSpec } from './graph.ts';

export type AlignedWindow = Exclude<WindowSpec, { tag: 'session' }>;

/** The longest stretch of time that lies in the same windows throughout. */
export function paneMicros(window: AlignedWindow): number {
  if (window.tag === 'tumble') return window.widthMicros;
  return window.tag === 'hop' ? gcd(window.slideMicros, window.widthMicros) : window.stepMicros;
}

function gcd(left: number, right: number): number {
  let [a, b] = [left, right];
  while (b > 0) [a, b] = [b, a % b];
  return a;
}
