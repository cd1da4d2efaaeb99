import { expect, test } from 'vitest';
import { type Json, World } from './world.ts';

const world = new World();
const document = (await world.call('GET', '/api/v1/openapi.json')).body;

type Operation = { method: string; path: string; operation: Json };
const operations: Operation[] = Object.entries<Record<string, unknown>>(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
);

test('the document is served, also where clients of Arroyo look for it', async () => {
  expect(document.openapi).toBe('3.1.0');
  expect((await world.call('GET', '/api/v1/api-docs/openapi.json')).body).toEqual(document);
});

test('every route that exists is documented, and every documented one exists', () => {
  const served = world.api.routes
    .filter((route) => route.method !== 'ALL' && !route.path.endsWith('openapi.json'))
    .map((route) => `${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`);
  const documented = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(documented.length).toBeGreaterThan(20);
  expect([...new Set(served)].toSorted()).toEqual(documented.toSorted());
});

test('operations have names of their own, a tag, a summary and answers with content', () => {
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(
    operations.length,
  );
  for (const { method, path, operation } of operations) {
    const route = `${method} ${path}`;
    expect(operation.operationId, route).toMatch(/^[a-z]\w+$/);
    expect(operation.summary, route).toBeTruthy();
    expect(
      document.tags.map((tag: { name: string }) => tag.name),
      route,
    ).toContain(operation.tags[0]);
    expect(Object.keys(operation.responses), route).toContain('200');
    for (const [status, response] of Object.entries<Json>(operation.responses)) {
      expect(response.description, route).toBeTruthy();
      // What has not changed is not sent again.
      if (status === '304') continue;
      expect(Object.keys(response.content), `${route} ${status}`).toHaveLength(1);
      if (Number(status) >= 400)
        expect(response.content['application/json'].schema.$ref).toBe(
          '#/components/schemas/Problem',
        );
    }
    const inPath = (operation.parameters ?? []).filter(
      (parameter: { in: string }) => parameter.in === 'path',
    );
    expect(
      inPath.map((parameter: { name: string }) => `{${parameter.name}}`).toSorted(),
      route,
    ).toEqual((path.match(/\{\w+\}/g) ?? []).toSorted());
  }
});

test('every reference leads somewhere', () => {
  const references = JSON.stringify(document).match(/"#\/components\/schemas\/[^"]+"/g) ?? [];
  expect(references.length).toBeGreaterThan(20);
  for (const reference of new Set(references)) {
    expect(document.components.schemas, reference).toHaveProperty([
      JSON.parse(reference).split('/').at(-1),
    ]);
  }
});
