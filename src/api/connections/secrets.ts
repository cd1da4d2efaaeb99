/**
 * What of a connection's options is shown to nobody. Options say so themselves; a name that speaks of a secret is not
 * shown either, whatever its connector says.
 */
import { COMMON_OPTIONS } from '../../plan/options.ts';
import type { ConnectorDeclaration } from '../../plan/declaration.ts';
import type { OptionValues } from '../../catalog/connections.ts';

export const MASK = '***';

const SPEAKING =
  /secret|password|passwd|token|credential|authorization|api_?key|private_?key|headers/i;

export function isSecret(connector: ConnectorDeclaration | undefined, option: string): boolean {
  const declared = [...(connector?.options ?? []), ...COMMON_OPTIONS].find(
    ({ name }) => name === option,
  );
  return declared?.secret === true || SPEAKING.test(option);
}

/** The same options with secrets as `***`. */
export function masked(
  connector: ConnectorDeclaration | undefined,
  config: OptionValues,
): OptionValues {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, isSecret(connector, key) ? MASK : value]),
  );
}
