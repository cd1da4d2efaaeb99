/**
 * Brings workerd back when Miniflare has given up. Miniflare starts a workerd that ended again, once: if that
 * one is killed while it starts, it only logs the failure and refuses every call from then on. Being
 * configured anew starts it again, so that is repeated until it works.
 */
import { Log, LogLevel } from 'miniflare';

const ATTEMPTS_MAX = 10;
const PAUSE_MS = 100;
const PAUSE_MAX_MS = 2_000;
const RESTART_FAILED = 'ERR_RUNTIME_FAILURE';

/** Miniflare's log, which is also the only place where it says that a restart has failed. */
export class RevivalLog extends Log {
  /** Set once the runtime runs; before, a failure to start is the caller's to explain. */
  onRestartFailed: (() => void) | null = null;

  readonly #isEnding: () => boolean;

  constructor(isEnding: () => boolean = () => false) {
    super(LogLevel.ERROR);
    this.#isEnding = isEnding;
  }

  override error(message: Error): void {
    if (this.#isEnding()) return;
    const failed = (message as Error & { code?: unknown }).code === RESTART_FAILED;
    if (failed && this.onRestartFailed !== null) this.onRestartFailed();
    else super.error(message);
  }
}

/** Calls `start` until it succeeds; gives up after some tries, or when `stopped`. The last error is thrown. */
export async function revive(start: () => Promise<unknown>, stopped: () => boolean): Promise<void> {
  for (let attempt = 1; !stopped(); attempt++) {
    try {
      await start();
      return;
    } catch (error) {
      if (attempt === ATTEMPTS_MAX) throw error;
      const pauseMs = Math.min(PAUSE_MS * 2 ** (attempt - 1), PAUSE_MAX_MS);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
