/** What every part of the page needs: the pipeline, its feed, and how to ask for an action. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { z } from 'zod';
import type { PipelineSchema } from '../../../api/pipelines/pipeline-shapes.ts';
import type { ActionName } from './consequences.ts';
import type { Feed } from './feed.ts';

export type Pipeline = z.infer<typeof PipelineSchema>;

export type PageContext = {
  id: string;
  feed: Feed;
  pipeline: Pipeline;
  /** On one's own machine: objects can be reset, and the bucket's can be listed. */
  local: boolean;
  ask(action: ActionName | 'settings', host?: number): void;
};

export const Context = createContext<PageContext | null>(null);

export function usePage(): PageContext {
  const page = useContext(Context);
  if (page === null) throw new Error('this part stands outside of a pipeline page');
  return page;
}
