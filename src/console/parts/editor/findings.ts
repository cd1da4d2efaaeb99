/** Findings of the planner as marks in the text, with their fixes; and the menu of fixes at the cursor. */
import { type Action, type Diagnostic as Mark, forEachDiagnostic } from '@codemirror/lint';
import { type EditorState, StateEffect, StateField } from '@codemirror/state';
import { type Command, type EditorView, showTooltip, type Tooltip } from '@codemirror/view';
import type { Diagnostic, Fix } from '../../../api/authoring/diagnostic-shapes.ts';
import { element } from './documentation.ts';
import { changesOf, rangeOf } from './edits.ts';

export type Finding = Diagnostic & { severity: 'error' | 'warning' };

/** Of findings about exactly the text that stands in the editor. */
export function marksOf(text: string, findings: readonly Finding[]): Mark[] {
  return findings.map((finding) => {
    const { span, severity, fixes = [] } = finding;
    // What has no place is about the query as a whole: its last sign.
    const { from, to } =
      span === undefined ? { from: text.trimEnd().length, to: text.length } : rangeOf(text, span);
    return {
      from: from === to ? Math.max(0, from - 1) : from,
      to: from === to ? Math.max(from, Math.min(text.length, from + 1)) : to,
      severity,
      message: finding.message,
      renderMessage: () => messageOf(finding),
      actions: fixes.map((fix) => actionOf(text, fix)),
    };
  });
}

function messageOf({ message, detail, hint, code }: Finding): HTMLElement {
  const box = element('div', 'editor-finding', '');
  box.append(element('strong', '', message));
  if (detail !== undefined) box.append(element('span', '', detail));
  if (hint !== undefined) box.append(element('span', '', hint));
  box.append(element('span', 'code', code));
  return box;
}

const actionOf = (text: string, fix: Fix): Action => ({
  name: fix.title,
  apply: (view) => applyFix(view, text, fix),
});

/** Only of the text that the fix was made for: places of another text mean nothing. */
export function applyFix(view: EditorView, madeFor: string, fix: Fix): void {
  if (view.state.doc.toString() !== madeFor) return;
  view.dispatch({
    changes: changesOf(madeFor, fix.edits),
    userEvent: 'input.fix',
    scrollIntoView: true,
  });
  view.focus();
}

const openMenu = StateEffect.define<Tooltip | null>();

/** The menu goes as soon as something else happens. */
export const fixMenu = StateField.define<Tooltip | null>({
  create: () => null,
  update(menu, transaction) {
    for (const effect of transaction.effects) if (effect.is(openMenu)) return effect.value;
    return transaction.docChanged || transaction.selection !== undefined ? null : menu;
  },
  provide: (field) => showTooltip.from(field),
});

type Offer = { action: Action; from: number; to: number };

function offersAtCursor(state: EditorState): Offer[] {
  const { head } = state.selection.main;
  const line = state.doc.lineAt(head);
  const offers: (Offer & { distance: number })[] = [];
  forEachDiagnostic(state, ({ actions = [] }, from, to) => {
    const near = from <= line.to && to >= line.from;
    const distance = head < from ? from - head : Math.max(0, head - to);
    if (near) offers.push(...actions.map((action) => ({ action, from, to, distance })));
  });
  return offers.sort((a, b) => a.distance - b.distance);
}

/** Opens the fixes of the findings in the line of the cursor, the nearest first. */
export const openFixes: Command = (view) => {
  const offers = offersAtCursor(view.state);
  const [first] = offers;
  if (first === undefined) return false;
  view.dispatch({
    effects: openMenu.of({
      pos: first.from,
      above: false,
      arrow: true,
      create: () => {
        const dom = menuOf(view, offers);
        return { dom, mount: () => dom.querySelector('button')?.focus() };
      },
    }),
  });
  return true;
};

function menuOf(view: EditorView, offers: readonly Offer[]): HTMLElement {
  const box = element('div', 'editor-fixes', '');
  box.setAttribute('role', 'menu');
  box.setAttribute('aria-label', 'Fixes');
  const close = (): void => {
    view.dispatch({ effects: openMenu.of(null) });
    view.focus();
  };
  for (const { action, from, to } of offers) {
    const button = element('button', '', action.name);
    button.setAttribute('type', 'button');
    button.setAttribute('role', 'menuitem');
    button.addEventListener('click', () => {
      close();
      action.apply(view, from, to);
    });
    box.append(button);
  }
  box.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const buttons = [...box.querySelectorAll('button')];
    const here = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (step !== 0) buttons[(here + step + buttons.length) % buttons.length]?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return box;
}
