/** Closes what it stands in. */
import { Icon } from './icon.tsx';

export function CloseButton({ onClose }: { onClose(): void }) {
  return (
    <button type="button" class="button quiet small" aria-label="Close" onClick={onClose}>
      <Icon name="cross" />
    </button>
  );
}
