/** Asked before something takes the place of a text that its writer would miss. */
import { Dialog } from '../../parts/dialog.tsx';
import type { Wanted } from './draft.ts';

type Props = { wanted: Wanted; onReplace(): void; onKeep(): void };

const WORDS: Record<Wanted['kind'], string> = {
  draft: 'Open the draft',
  example: 'Open the example',
  pipeline: "Open the pipeline's query",
  paste: 'Begin with the rows',
};

export function ReplaceQuestion({ wanted, onReplace, onKeep }: Props) {
  let replaced = false;
  return (
    <Dialog
      title="You have a draft here"
      action={WORDS[wanted.kind]}
      onConfirm={() => {
        replaced = true;
        return Promise.resolve();
      }}
      onClose={() => (replaced ? onReplace() : onKeep())}
    >
      <p>
        The editor holds a text of yours that is not started. It is put aside, under Drafts, when
        something else opens; Cancel goes on with it.
      </p>
    </Dialog>
  );
}
