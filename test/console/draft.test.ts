import { describe, expect, it } from 'vitest';
import {
  ASIDE_MOST,
  type Draft,
  draftIn,
  isOwn,
  opening,
  putAside,
  titleOf,
  wantedBy,
} from '../../src/console/pages/edit/draft.ts';

const example = { kind: 'example', id: 'a', title: 'A', text: 'SELECT 1' } as const;
const untouched: Draft = { text: 'SELECT 1\n', origin: example };
const changed: Draft = { text: 'SELECT 2', origin: example };
const own: Draft = { text: 'SELECT 3', origin: null };

describe('what the address asks for', () => {
  it('is an example, a pipeline, pasted rows, or the draft', () => {
    expect(wantedBy({ example: 'a' })).toEqual({ kind: 'example', id: 'a' });
    expect(wantedBy({ from: 'pl_1' })).toEqual({ kind: 'pipeline', id: 'pl_1' });
    expect(wantedBy({ paste: '' })).toEqual({ kind: 'paste' });
    expect(wantedBy({})).toEqual({ kind: 'draft' });
    expect(wantedBy({ example: '' })).toEqual({ kind: 'draft' });
  });

  it('opens at once when nothing would be missed', () => {
    for (const draft of [null, untouched, { text: '  \n', origin: null }])
      expect(opening({ kind: 'example', id: 'b' }, draft)).toEqual({ show: 'wanted' });
  });

  it('is asked about when a text of the writer stands there', () => {
    for (const wanted of [
      { kind: 'example', id: 'b' },
      { kind: 'pipeline', id: 'a' },
      { kind: 'paste' },
    ] as const)
      expect(opening(wanted, changed)).toEqual({ show: 'question' });
    expect(opening({ kind: 'example', id: 'a' }, own)).toEqual({ show: 'question' });
  });

  it('is the changed text itself when it came from there', () => {
    expect(opening({ kind: 'example', id: 'a' }, changed)).toEqual({ show: 'draft' });
    expect(opening({ kind: 'draft' }, changed)).toEqual({ show: 'draft' });
  });
});

describe('texts put aside', () => {
  it('are those that a writer would miss, newest first, once each, a few', () => {
    expect(isOwn(untouched)).toBe(false);
    expect(putAside(['x'], untouched)).toEqual(['x']);
    expect(putAside(['x', 'SELECT 3'], own)).toEqual(['SELECT 3', 'x']);
    const many = Array.from({ length: 20 }, (_, index) => String(index));
    expect(putAside(many, own)).toHaveLength(ASIDE_MOST);
  });

  it('are named by their first words', () => {
    expect(titleOf('\n-- Which orders?\nSELECT')).toBe('Which orders?');
    expect(titleOf('')).toBe('');
  });
});

describe('a kept draft', () => {
  it('comes back as it was', () => {
    expect(draftIn(JSON.stringify(changed))).toEqual(changed);
    expect(draftIn(JSON.stringify(own))).toEqual(own);
  });

  it('that is broken is none, and one with a strange origin is the text alone', () => {
    for (const text of [null, 'x{', '[]', 'null', '{"text":1}']) expect(draftIn(text)).toBeNull();
    expect(draftIn('{"text":"a","origin":{"kind":"x"}}')).toEqual({ text: 'a', origin: null });
  });
});
