/** A connector's own icon, as the server declares it: a small SVG in the colour of the text around it. */
import type { Connector } from '../../../api/meta/connector-shapes.ts';
import { Icon } from '../../parts/icon.tsx';

type WithIcon = Connector & { icon?: string };

export function ConnectorIcon({ connector }: { connector: WithIcon }) {
  const { icon } = connector;
  if (icon === undefined || icon === '')
    return (
      <span class="connector-icon">
        <Icon name="plug" />
      </span>
    );
  // The text is a constant of the server's own code; nothing that users write gets into it.
  return (
    <span class="connector-icon" aria-hidden="true" dangerouslySetInnerHTML={{ __html: icon }} />
  );
}
