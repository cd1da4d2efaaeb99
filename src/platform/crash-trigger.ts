/** Resets an object at a chosen point of its work: how tests hit every phase of a checkpoint. Local only. */
import type { CrashPoint } from './env.ts';

export class CrashTrigger {
  readonly #ctx: DurableObjectState;
  #point: CrashPoint | null = null;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
  }

  /** `now` resets at once; anything else when that point is reached. */
  arm(point: CrashPoint): void {
    if (point === 'now') this.#abort(point);
    this.#point = point;
  }

  reach(point: CrashPoint): void {
    if (this.#point === point) this.#abort(point);
  }

  #abort(point: CrashPoint): void {
    this.#ctx.abort(`crash asked for at ${point}`);
  }
}
