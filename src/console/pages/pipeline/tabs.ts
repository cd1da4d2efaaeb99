/** The tabs of the page, and which topics each of them listens to. */
import type { Topic } from '../../../api/stream/event-shapes.ts';

export const TABS = [
  'overview',
  'output',
  'send',
  'lineage',
  'checkpoints',
  'errors',
  'sql',
  'sinks',
] as const;

export type TabName = (typeof TABS)[number];

export const TAB_TITLES: Record<TabName, string> = {
  overview: 'Overview',
  output: 'Output',
  send: 'Send rows',
  lineage: 'Lineage',
  checkpoints: 'Checkpoints',
  errors: 'Errors',
  sql: 'SQL',
  sinks: 'Sinks',
};

const OWN: Partial<Record<TabName, Topic>> = {
  overview: 'history',
  output: 'output',
  lineage: 'lineage',
  errors: 'errors',
};

export const tabOf = (name: string | undefined): TabName =>
  TABS.find((tab) => tab === name) ?? 'overview';

/** @param watching  something was killed: the lineage is followed on every tab */
export function topicsOf(tab: TabName, watching: boolean): Topic[] {
  const own = OWN[tab];
  const topics: Topic[] = ['status', 'health'];
  if (own !== undefined) topics.push(own);
  if (watching && own !== 'lineage') topics.push('lineage');
  return topics;
}
