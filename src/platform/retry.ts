/** Bounded retry of outside calls that are safe to repeat. */

const ATTEMPTS_MAX = 5;
const PAUSE_MS = 200;

/** Calls until it succeeds, at most five times with growing pauses; the last error is thrown on. */
export async function withRetry<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (thrown) {
      if (attempt === ATTEMPTS_MAX) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * 2 ** (attempt - 1)));
    }
  }
}
