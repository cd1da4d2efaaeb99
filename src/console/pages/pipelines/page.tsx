/** All pipelines. */
import { useLocation } from 'preact-iso';
import type { z } from 'zod';
import type { PipelinePageSchema } from '../../../api/pipelines/pipeline-shapes.ts';
import { useLoaded } from '../../api/load.ts';
import { Empty } from '../../parts/empty.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { VirtualTable } from '../../parts/virtual-table.tsx';

type PipelinePage = z.infer<typeof PipelinePageSchema>;

export function PipelinesPage() {
  const { route } = useLocation();
  const { data, failure } = useLoaded<PipelinePage>('/pipelines?limit=100');
  return (
    <>
      <div class="page-head">
        <h1>Pipelines</h1>
      </div>
      {failure !== null && <ProblemNote thrown={failure} />}
      <div class="panel">
        <VirtualTable
          label="Pipelines"
          height="60vh"
          rows={data?.data ?? []}
          rowKey={({ id }) => id}
          onOpen={({ id }) => route(`/pipelines/${id}`)}
          columns={[
            { key: 'name', title: 'Name', width: 'minmax(10rem, 2fr)', cell: ({ name }) => name },
            {
              key: 'state',
              title: 'State',
              width: '9rem',
              cell: ({ state }) => <StateBadge state={state} />,
            },
            {
              key: 'created',
              title: 'Created',
              width: '12rem',
              cell: ({ created_at }) => <Time at={created_at} />,
            },
          ]}
          empty={
            <Empty title="No pipeline yet">
              <a class="button primary" href="/pipelines/new">
                Write the first
              </a>
            </Empty>
          }
        />
      </div>
    </>
  );
}
