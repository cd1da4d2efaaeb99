/**
 * Signals that ask a command to end. One Ctrl-C can arrive several times: from the terminal, and again from npm or
 * whoever started us and passes it on. Those are one; a signal sent later is from someone who is tired of waiting.
 */
const SAME_SIGNAL_MS = 1000;

/** Exit code of a command that a signal has ended. */
export const INTERRUPTED = 130;

/** Calls `onFirst` at the first signal; one sent later ends the process at once, after its `exit` listeners. */
export function onInterrupt(onFirst: () => void): void {
  let firstAt: number | undefined;
  const onSignal = (): void => {
    if (firstAt === undefined) {
      firstAt = Date.now();
      onFirst();
    } else if (Date.now() - firstAt > SAME_SIGNAL_MS) process.exit(INTERRUPTED);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
}
