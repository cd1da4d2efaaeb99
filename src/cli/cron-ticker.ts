/**
 * The cron clock. Local runtimes never fire a cron by themselves; without this the controller's backstop
 * would not exist on a developer's machine.
 */

const MINUTE_MS = 60_000;

export type Ticker = { close(): void };

/** Calls `tick` now and at each full minute. A tick that still runs makes the next one wait its turn out. */
export function startCronTicker(
  tick: () => Promise<void>,
  onError: (error: unknown) => void,
): Ticker {
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  const run = (): void => {
    if (running) return;
    running = true;
    tick()
      .catch(onError)
      .finally(() => {
        running = false;
      });
  };
  const arm = (): void => {
    timer = setTimeout(
      () => {
        arm();
        run();
      },
      MINUTE_MS - (Date.now() % MINUTE_MS),
    );
  };
  run();
  arm();
  return { close: () => clearTimeout(timer) };
}
