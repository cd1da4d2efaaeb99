/** Names and types as SQL text. */
import type { Identifier } from './ast.ts';
import type { TypeName } from './ast-type.ts';

/** A name such that it reads back as the same name. */
export function printIdentifier(identifier: Identifier): string {
  return identifier.quoted ? quote(identifier.name, '"') : identifier.text;
}

/** The text between a pair of quotes, those inside doubled. */
export function quote(text: string, sign: '"' | "'"): string {
  return sign + text.replaceAll(sign, sign + sign) + sign;
}

export function printType(type: TypeName): string {
  switch (type.tag) {
    case 'array':
      return `${printType(type.element)}[]`;
    case 'map':
      return `MAP<${printType(type.key)}, ${printType(type.value)}>`;
    case 'struct': {
      const fields = type.fields.map(
        (field) =>
          `${printIdentifier(field.name)} ${printType(field.type)}${field.notNull ? ' NOT NULL' : ''}`,
      );
      return `STRUCT<${fields.join(', ')}>`;
    }
    case 'simple':
      return printSimpleType(type.name, type.parameters);
  }
}

/** Parameters stand before UNSIGNED and WITH TIME ZONE. */
function printSimpleType(name: string, parameters: readonly number[]): string {
  const suffix = /(?: unsigned| with time zone)$/.exec(name)?.[0] ?? '';
  const list = parameters.length === 0 ? '' : `(${parameters.join(', ')})`;
  const text = name.slice(0, name.length - suffix.length) + list + suffix;
  // A letter outside ASCII need not come back from upper case.
  return /^[\x20-\x7e]*$/.test(text) ? text.toUpperCase() : text;
}
