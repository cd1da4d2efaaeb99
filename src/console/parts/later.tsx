/** A part whose code is loaded when it is first shown; until then its place is kept. */
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ProblemNote } from './problem-note.tsx';

/** @param height  CSS height of the place that is kept */
export function later<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
  height: string,
): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | null = null;
  return function Later(props: Props) {
    const [, redraw] = useState(0);
    const [failure, setFailure] = useState<unknown>(null);
    useEffect(() => {
      if (loaded !== null) return;
      load().then((component) => {
        loaded = component;
        redraw((turn) => turn + 1);
      }, setFailure);
    }, []);
    const Part = loaded;
    if (Part !== null) return <Part {...props} />;
    if (failure !== null) return <ProblemNote thrown={failure} />;
    return <div class="later" style={{ minHeight: height }} />;
  };
}
