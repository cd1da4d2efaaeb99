/** The process behind spawnRuntime: one runtime, steered by messages, ending when its parent is gone. */
import { reportOf, type ErrorReport } from '../base/errors.ts';
import { startRuntime, type LocalRuntime, type RuntimeOptions } from './local-runtime.ts';

export type ChildOptions = Omit<RuntimeOptions, 'localFiles' | 'onLog'>;

export type ToChild =
  | { tag: 'start'; options: ChildOptions }
  | { tag: 'scheduled'; call: number }
  | { tag: 'stop' };

export type FromChild =
  | { tag: 'ready'; url: string; workerdPid: number | undefined }
  | { tag: 'log'; level: string; message: string }
  | { tag: 'called'; call: number; failure: ErrorReport | undefined }
  | { tag: 'failed'; failure: ErrorReport };

let runtime: LocalRuntime | undefined;

function send(message: FromChild): void {
  if (process.connected) process.send?.(message);
}

async function stop(): Promise<void> {
  await runtime?.dispose();
  process.exit();
}

async function handle(message: ToChild): Promise<void> {
  switch (message.tag) {
    case 'start':
      runtime = await startRuntime({
        ...message.options,
        handlesSignals: true,
        onLog: (level, text) => send({ tag: 'log', level, message: text }),
      });
      send({ tag: 'ready', url: runtime.url, workerdPid: runtime.workerdPid() });
      return;
    case 'scheduled': {
      const failure = await runtime?.runScheduled().then(
        () => undefined,
        (error: unknown) => reportOf(error),
      );
      send({ tag: 'called', call: message.call, failure });
      return;
    }
    case 'stop':
      await stop();
  }
}

process.on('message', (message: ToChild) => {
  handle(message).catch((error: unknown) => {
    process.exitCode = 1;
    // The exit waits until the report has left.
    process.send?.(
      { tag: 'failed', failure: reportOf(error) } satisfies FromChild,
      () => void stop(),
    );
  });
});
process.on('disconnect', () => void stop());
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop());
