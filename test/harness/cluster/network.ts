/** Who cannot reach whom for a while. Cuts go both ways. */
import type { VirtualClock } from './clock.ts';

export const CONTROLLER = 'controller';
export const leaderNode = (generation: number): string => `leader ${generation}`;
export const hostNode = (generation: number, index: number): string =>
  `host ${index} of ${generation}`;

export class Network {
  readonly #clock: VirtualClock;
  /** When each cut ends. */
  readonly #cuts = new Map<string, number>();

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  cut(left: string, right: string, ms: number): void {
    this.#cuts.set(keyOf(left, right), this.#clock.nowMs + ms);
  }

  reaches(left: string, right: string): boolean {
    if (this.#cuts.size === 0) return true;
    const untilMs = this.#cuts.get(keyOf(left, right));
    return untilMs === undefined || untilMs <= this.#clock.nowMs;
  }

  heal(): void {
    this.#cuts.clear();
  }
}

const keyOf = (left: string, right: string): string =>
  left < right ? `${left}|${right}` : `${right}|${left}`;
