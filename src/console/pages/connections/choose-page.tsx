/** Which connector: a card each, as the server declares them. */
import type { Connector } from '../../../api/meta/connector-shapes.ts';
import { useLoaded } from '../../api/load.ts';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { ConnectorIcon } from './connector-icon.tsx';
import { directionsOf } from './draft.ts';
import './page.css';

export function ChooseConnectorPage() {
  const { data, failure } = useLoaded<{ data: Connector[] }>('/connectors');
  const shown = data?.data.filter(({ enabled, hidden }) => enabled && !hidden) ?? [];
  return (
    <>
      <div class="page-head">
        <h1>New source or sink</h1>
      </div>
      {failure !== null && <ProblemNote thrown={failure} />}
      <ul class="connector-cards">
        {shown.map((connector) => (
          <li key={connector.id}>
            <a class="panel connector-card" href={`/connections/new/${connector.id}`}>
              <ConnectorIcon connector={connector} />
              <h2>{connector.name}</h2>
              <p>{connector.description}</p>
              <p class="connector-uses">
                {directionsOf(connector).map((direction) => (
                  <span key={direction} class="tag">
                    {direction}
                  </span>
                ))}
                {connector.sink && connector.exactly_once && <span class="tag">exactly once</span>}
              </p>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
