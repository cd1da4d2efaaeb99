/** Whether the server is there, and which connectors it has. */
import { createRoute, z } from '@hono/zod-openapi';
import { DECLARATIONS } from '../../connectors/declarations.ts';
import type { ConnectorDeclaration, OptionDeclaration } from '../../plan/declaration.ts';
import type { Api } from '../app.ts';
import { json } from '../http/json-answer.ts';
import { iconOf } from './connector-icons.ts';
import { ConnectorSchema } from './connector-shapes.ts';
import { problems } from '../http/problem.ts';

const ping = createRoute({
  method: 'get',
  path: '/api/v1/ping',
  operationId: 'ping',
  tags: ['meta'],
  summary: 'Whether the server is there',
  responses: {
    200: {
      description: 'It is.',
      content: { 'text/plain': { schema: z.string().openapi({ example: 'Pong' }) } },
    },
  },
});

const connectors = createRoute({
  method: 'get',
  path: '/api/v1/connectors',
  operationId: 'getConnectors',
  tags: ['meta'],
  summary: 'The connectors and their options',
  responses: {
    200: json(
      z.object({ data: z.array(ConnectorSchema) }).openapi('ConnectorCollection'),
      'Every connector.',
    ),
    ...problems(),
  },
});

export function addMetaRoutes(api: Api): void {
  api.openapi(ping, (c) => c.text('Pong', 200));
  api.openapi(connectors, (c) => c.json({ data: DECLARATIONS.map(connectorView) }, 200));
}

function connectorView(declaration: ConnectorDeclaration): z.infer<typeof ConnectorSchema> {
  const { name, description, source, sink, schema, twoPhase, formats, options } = declaration;
  return {
    id: name,
    name,
    icon: iconOf(name),
    description,
    enabled: true,
    source,
    sink,
    custom_schemas: schema === null,
    testing: true,
    hidden: false,
    table_config: JSON.stringify(jsonSchemaOf(options)),
    connection_config: JSON.stringify({ ...jsonSchemaOf(options), required: [] }),
    exactly_once: sink && twoPhase,
    formats: [...formats],
    options: options.map((option) => ({
      name: option.name,
      type: option.type,
      ...(option.choices === undefined ? {} : { choices: [...option.choices] }),
      ...(option.min === undefined ? {} : { min: option.min }),
      ...(option.max === undefined ? {} : { max: option.max }),
      required: option.required,
      default: option.fallback,
      description: option.doc,
      for: option.for,
    })),
  };
}

const JSON_TYPES: Record<OptionDeclaration['type'], string> = {
  text: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  duration: 'string',
  bytes: 'string',
  choice: 'string',
  names: 'string',
};

function jsonSchemaOf(options: readonly OptionDeclaration[]): Record<string, unknown> {
  const properties = options.map(({ name, type, choices, doc }) => [
    name,
    {
      type: JSON_TYPES[type],
      description: doc,
      ...(choices === undefined ? {} : { enum: choices }),
    },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties) as Record<string, unknown>,
    required: options.filter((option) => option.required).map((option) => option.name),
    additionalProperties: false,
  };
}
