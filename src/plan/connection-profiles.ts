/** `connection_profile = 'name'`: options that are stored under a name, for a table that does not say them itself. */
import { nearest } from '../base/nearest.ts';
import type { OptionValue, TableOption } from '../sql/ast-statement.ts';
import { type Diagnostics, withSuggestion } from './diagnostics.ts';
import type { CanonicalValue, WrittenOptions } from './options.ts';

export type ConnectionProfile = {
  name: string;
  connector: string;
  options: Readonly<Record<string, CanonicalValue>>;
};

/** The table's options with those of the profile that it names behind them, told at the place where it names it. */
export function withProfile(
  written: WrittenOptions,
  profiles: readonly ConnectionProfile[],
  diagnostics: Diagnostics,
): WrittenOptions {
  const naming = written.get('connection_profile');
  if (naming === undefined) return written;
  const options = new Map(written);
  options.delete('connection_profile');
  const { value } = naming;
  const name = value.tag === 'string' ? value.value : value.tag === 'name' ? value.name.text : '';
  const profile = profiles.find((candidate) => candidate.name === name);
  if (profile === undefined) {
    const names = profiles.map((candidate) => candidate.name);
    diagnostics.error(
      'INVALID_OPTION',
      `there is no connection profile "${name}"`,
      value.span,
      withSuggestion(
        nearest(name, names),
        names.length === 0
          ? 'store one with POST /api/v1/connection_profiles, or write its options here'
          : `the profiles are ${names.join(', ')}`,
      ),
    );
    return options;
  }
  const connector = options.get('connector')?.value;
  if (connector?.tag === 'string' && connector.value !== profile.connector)
    diagnostics.error(
      'INVALID_OPTION',
      `the connection profile "${name}" is one of ${profile.connector}, and the table is one of ${connector.value}`,
      value.span,
    );
  if (connector === undefined)
    options.set('connector', optionAt(naming, 'connector', profile.connector));
  for (const [key, given] of Object.entries(profile.options))
    if (!options.has(key)) options.set(key, optionAt(naming, key, given));
  return options;
}

function optionAt(naming: TableOption, key: string, value: CanonicalValue): TableOption {
  const { span } = naming;
  return { key, keySpan: span, value: literalAt(value, span), span };
}

function literalAt(value: CanonicalValue, span: TableOption['span']): OptionValue {
  if (typeof value === 'boolean') return { tag: 'boolean', value, span };
  if (typeof value === 'number') return { tag: 'number', text: String(value), span };
  return { tag: 'string', value, span };
}
