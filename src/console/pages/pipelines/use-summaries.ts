/** The list as the server streams it. The stream is opened anew when other rows come into sight, and goes on from where it was. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChangedSummaries, PipelineSummaries } from '../../../api/stream/summary-shapes.ts';
import { openStream } from '../../api/stream.ts';
import { type Summaries, summariesOf, withChanges } from './list.ts';

/** Null until the server has told it. */
export function useSummaries(watched: readonly string[]): Summaries | null {
  const [summaries, setSummaries] = useState<Summaries | null>(null);
  const lastId = useRef('');
  const watch = watched.join(',');
  useEffect(() => {
    const stream = openStream(
      `/events?watch=${watch}`,
      {
        summaries: (data) =>
          setSummaries(summariesOf((JSON.parse(data) as PipelineSummaries).data)),
        changed: (data) => {
          const changes = JSON.parse(data) as ChangedSummaries;
          setSummaries((before) => withChanges(before ?? new Map(), changes));
        },
      },
      lastId.current,
    );
    return () => {
      lastId.current = stream.lastId();
      stream.close();
    };
  }, [watch]);
  return summaries;
}
