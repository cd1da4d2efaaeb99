import { expect, test } from 'vitest';
import { layerTable, outdatedDocuments, withSection } from '../../scripts/docs.ts';

test('the parts of the documents that are made from code are what the code says (npm run docs)', () => {
  expect(outdatedDocuments().map(({ path }) => path)).toEqual([]);
});

test('only the section between its markers is replaced', () => {
  const text = 'a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n';
  const replaced = withSection(text, 'x', 'new');
  expect(replaced).toBe('a\n<!-- x: begin -->\nnew\n<!-- x: end -->\nb\n');
  expect(withSection(replaced ?? '', 'x', 'new')).toBe(replaced);
  expect(withSection(text, 'y', 'new')).toBeUndefined();
});

test('the layer table has a row for each layer', () => {
  expect(layerTable()).toContain(
    '| sql | SQL text to syntax tree and back; knows no types and no tables | base |',
  );
});
