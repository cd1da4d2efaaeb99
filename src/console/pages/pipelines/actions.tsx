/** What can be done with a pipeline from the list. */
import { useState } from 'preact/hooks';
import type { PipelineSummary } from '../../../api/stream/summary-shapes.ts';
import { api } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { tell, tellFailure } from '../../parts/toasts.tsx';

type Props = { pipeline: PipelineSummary };

const AT_REST = ['Stopped', 'Failed', 'Finished'];

export function PipelineActions({ pipeline }: Props) {
  const [asking, setAsking] = useState(false);
  const { id, name, state, action, action_text: text } = pipeline;
  const act = async (): Promise<void> => {
    try {
      await api.patch(`/pipelines/${id}`, { stop: action });
      tell(`${name}: ${action === 'none' ? 'starting' : 'stopping with a last checkpoint'}`);
    } catch (thrown) {
      tellFailure(thrown);
    }
  };
  return (
    // A click on a button must not open the row that it stands in.
    <span
      class="row-actions"
      role="presentation"
      onClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      {action !== null && (
        <button
          type="button"
          class="button small quiet"
          aria-label={`${text} ${name}`}
          onClick={() => void act()}
        >
          <Icon name={action === 'none' ? 'play' : 'stop'} />
        </button>
      )}
      {AT_REST.includes(state) && (
        <button
          type="button"
          class="button small quiet"
          aria-label={`Delete ${name}`}
          onClick={() => setAsking(true)}
        >
          <Icon name="trash" />
        </button>
      )}
      {asking && (
        <Dialog
          title={`Delete ${name}?`}
          action="Delete"
          danger
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await api.remove(`/pipelines/${id}`);
            tell(`${name} is deleted`);
          }}
        >
          <p>
            Its checkpoints, its lineage and rows that were posted and not read yet are deleted for
            good. Files that it has committed to R2 stay.
          </p>
        </Dialog>
      )}
    </span>
  );
}
