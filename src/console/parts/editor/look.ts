/** How code looks: the tokens of the page, so that both themes hold. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const highlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--code-keyword)' },
  { tag: [tags.string], color: 'var(--code-string)' },
  // In double quotes: a name.
  { tag: [tags.special(tags.string)], color: 'var(--ink)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.comment], color: 'var(--code-comment)', fontStyle: 'italic' },
  {
    tag: [tags.standard(tags.name), tags.function(tags.variableName)],
    color: 'var(--code-function)',
  },
  { tag: [tags.typeName, tags.className], color: 'var(--code-type)' },
  { tag: [tags.name, tags.variableName, tags.propertyName], color: 'var(--ink)' },
  { tag: [tags.punctuation, tags.operator, tags.separator], color: 'var(--ink-soft)' },
]);

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--surface)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--font-code)',
    fontSize: 'var(--size-2)',
    lineHeight: '1.6',
    fontVariantLigatures: 'none',
  },
  '.cm-content': { padding: 'var(--gap-3) 0', caretColor: 'var(--thalweg)' },
  '.cm-line': { padding: '0 var(--gap-4) 0 var(--gap-2)' },
  '.cm-cursor': { borderLeftColor: 'var(--thalweg)', borderLeftWidth: '2px' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--ink-faint)',
    border: 'none',
    fontSize: 'var(--size-1)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--hover) 45%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--thalweg-soft) !important',
  },
  '.cm-matchingBracket': {
    backgroundColor: 'var(--thalweg-soft)',
    outline: '1px solid var(--thalweg)',
  },
  '.cm-placeholder': { color: 'var(--ink-faint)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--thalweg-soft)' },
});

export const look: Extension = [theme, syntaxHighlighting(highlight)];
