/** A request as a component sees it: loading, there, or failed; and again when asked. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { api } from './client.ts';

export type Loaded<T> = {
  data: T | null;
  /** What was thrown by the newest attempt. */
  failure: unknown;
  loading: boolean;
  reload(): void;
};

/** @param path  null: nothing is asked for yet */
export function useLoaded<T>(path: string | null): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({
    data: null,
    failure: null,
    loading: path !== null,
  });
  const [turn, setTurn] = useState(0);
  const shown = useRef(path);
  useEffect(() => {
    if (path === null) return undefined;
    const stop = new AbortController();
    const samePath = shown.current === path;
    shown.current = path;
    setState((before) => ({
      data: samePath ? before.data : null,
      failure: null,
      loading: true,
    }));
    api.get<T>(path, { signal: stop.signal }).then(
      (data) => setState({ data, failure: null, loading: false }),
      (failure: unknown) => {
        if (!stop.signal.aborted)
          setState((before) => ({ data: before.data, failure, loading: false }));
      },
    );
    return () => stop.abort();
  }, [path, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  return { ...state, reload };
}
