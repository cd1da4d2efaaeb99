/**
 * A JSON schema's properties as fields of a table.
 *
 * What one type cannot hold (several types, no type) becomes JSON, so that every row that fits the schema is read. Failure: a
 * text that is no JSON, or that describes no object with properties, is INVALID_REQUEST.
 */
import { EngineError } from '../../base/errors.ts';
import type { ConnectionField, ConnectionType } from './connection-shapes.ts';

type Node = Record<string, unknown>;

const DEPTH_MAX = 32;

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const wrong = (message: string, hint?: string): EngineError =>
  new EngineError(
    'INVALID_REQUEST',
    `definition.json_schema: ${message}`,
    hint === undefined ? {} : { hint },
  );

export function fieldsOfJsonSchema(text: string): ConnectionField[] {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch (error) {
    throw wrong(`it is no JSON: ${(error as Error).message}`);
  }
  if (!isNode(root)) throw wrong('it is no object');
  const top = resolved(root, root, 0);
  const fields = propertiesOf(top, root, 0);
  if (fields.length === 0)
    throw wrong('it has no properties', 'Its type must be "object", with "properties".');
  return fields;
}

function propertiesOf(node: Node, root: Node, depth: number): ConnectionField[] {
  const { properties, required } = node;
  if (!isNode(properties)) return [];
  const needed = new Set(Array.isArray(required) ? (required as unknown[]) : []);
  return Object.entries(properties).map(([name, property]) => {
    const { type, nullable } = typeOf(property, root, depth + 1);
    return { name, ...type, required: needed.has(name) && !nullable };
  });
}

function typeOf(
  property: unknown,
  root: Node,
  depth: number,
): { type: ConnectionType; nullable: boolean } {
  const json = { type: { type: 'json' } as const, nullable: true };
  if (!isNode(property) || depth > DEPTH_MAX) return json;
  const node = resolved(property, root, depth);
  const options = node['anyOf'] ?? node['oneOf'];
  if (Array.isArray(options)) {
    const others = options.filter((option) => !isNode(option) || option['type'] !== 'null');
    if (others.length !== 1) return json;
    const { type } = typeOf(others[0], root, depth + 1);
    return { type, nullable: others.length < options.length };
  }
  const names = [node['type']].flat();
  const types = names.filter((name) => name !== 'null');
  const nullable = types.length < names.length;
  if (types.length !== 1) return json;
  return { type: plainType(String(types[0]), node, root, depth), nullable };
}

function plainType(name: string, node: Node, root: Node, depth: number): ConnectionType {
  switch (name) {
    case 'string':
      return node['format'] === 'date-time'
        ? { type: 'timestamp', unit: 'microsecond' }
        : node['format'] === 'date'
          ? { type: 'date' }
          : { type: 'string' };
    case 'integer':
      return { type: 'int64' };
    case 'number':
      return { type: 'float64' };
    case 'boolean':
      return { type: 'bool' };
    case 'array': {
      const items = typeOf(node['items'], root, depth + 1).type;
      return { type: 'list', items };
    }
    case 'object': {
      const fields = propertiesOf(node, root, depth);
      return fields.length === 0 ? { type: 'json' } : { type: 'struct', fields };
    }
    default:
      return { type: 'json' };
  }
}

/** What a reference within the schema points to. */
function resolved(node: Node, root: Node, depth: number): Node {
  const reference = node['$ref'];
  if (typeof reference !== 'string') return node;
  if (!reference.startsWith('#/') || depth > DEPTH_MAX)
    throw wrong(`"${reference}" does not point into the schema`);
  let target: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    target = isNode(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  if (!isNode(target)) throw wrong(`"${reference}" points to nothing`);
  return resolved(target, root, depth + 1);
}
