/** The editor itself, put together from CodeMirror's parts. Loaded with the first page that needs it. */
import {
  acceptCompletion,
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
  closeBrackets,
  closeBracketsKeymap,
  insertBracket,
  pickedCompletion,
  selectedCompletionIndex,
  snippet,
  startCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, Prec } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
  placeholder,
  tooltips,
} from '@codemirror/view';
import type { Completions } from '../../../api/authoring/authoring-shapes.ts';
import type { Fix, QueryTable } from '../../../api/authoring/diagnostic-shapes.ts';
import { describe, NOTHING_KNOWN, type Proposal, propose } from './completion.ts';
import { documentation } from './documentation.ts';
import { difference } from './edits.ts';
import { applyFix, type Finding, fixMenu, marksOf, openFixes } from './findings.ts';
import { sqlLanguage } from './language.ts';
import { look } from './look.ts';
import { type Known, offersMore } from './offer.ts';

export type EditorOptions = {
  text: string;
  label: string;
  readOnly: boolean;
  hint: string;
  onChange(text: string): void;
  onRun(): void;
  onFormat(): void;
};

export type EditorHandle = {
  /** Replaces what differs; can be undone. */
  setText(text: string): void;
  setCatalogue(catalogue: Completions): void;
  setTables(tables: readonly QueryTable[]): void;
  /** @param about  the text that they were found in; those of another text are dropped */
  setFindings(about: string, findings: readonly Finding[]): void;
  applyFix(about: string, fix: Fix): void;
  /** Puts the cursor there, in sight. */
  reveal(from: number, to?: number): void;
  insert(text: string): void;
  focus(): void;
  destroy(): void;
};

const TYPES: Record<Proposal['kind'], string> = {
  column: 'property',
  table: 'class',
  function: 'function',
  keyword: 'keyword',
  type: 'type',
  option: 'constant',
  value: 'enum',
  snippet: 'text',
};

function completionOf(proposal: Proposal): Completion {
  const { label, kind, detail, template, rank } = proposal;
  return {
    label,
    type: TYPES[kind],
    detail,
    boost: rank,
    info: () => documentation(proposal),
    ...(template === null ? {} : { apply: applyOf(template) }),
  };
}

/**
 * A hole between brackets or quotes at the end is made as if it were typed, so that typing the closing one goes over it.
 * What has to stand there is offered at once.
 */
function applyOf(template: string): Exclude<Completion['apply'], undefined> {
  const hole = /^([^$]*)([('])\$\{\}[)']$/.exec(template);
  if (hole === null) return snippet(template);
  const [, head = '', bracket = ''] = hole;
  return (view: EditorView, completion: Completion, from: number, to: number): void => {
    const open = view.state.sliceDoc(to, to + 1) === bracket;
    view.dispatch({
      changes: { from, to, insert: head },
      selection: { anchor: from + head.length },
      annotations: pickedCompletion.of(completion),
      userEvent: 'input.complete',
    });
    const pair = open ? null : insertBracket(view.state, bracket);
    if (pair !== null) view.dispatch(pair);
    if (bracket === "'") startCompletion(view);
  };
}

const completionsFrom =
  (known: Known) =>
  (context: CompletionContext): CompletionResult | null => {
    const { state, pos, explicit } = context;
    const text = state.doc.toString();
    const found = propose(text, pos, explicit, known.catalogue, known.tables);
    if (found === null || found.proposals.length === 0) return null;
    return {
      from: found.from,
      options: found.proposals.map(completionOf),
      validFor: /^[\w.]*$/,
    };
  };

const hoverFrom = (known: Known): Extension =>
  hoverTooltip((view, at) => {
    const found = describe(view.state.doc.toString(), at, known.catalogue, known.tables);
    const dom = found === null ? null : documentation(found);
    if (found === null || dom === null) return null;
    return { pos: found.from, end: found.to, above: true, create: () => ({ dom }) };
  });

function keysOf({ onRun, onFormat }: EditorOptions): Extension {
  const done = (act: () => void) => (): boolean => {
    act();
    return true;
  };
  return keymap.of([
    { key: 'Mod-Enter', run: done(onRun), preventDefault: true },
    { key: 'Mod-Shift-f', run: done(onFormat), preventDefault: true },
    { key: 'Mod-.', run: openFixes, preventDefault: true },
    { key: 'Alt-Enter', run: openFixes, preventDefault: true },
    { key: 'Tab', run: acceptCompletion },
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...lintKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...defaultKeymap,
    indentWithTab,
  ]);
}

/** The navigation at the foot of a narrow page is not covered. */
function roomForTooltips(): { top: number; left: number; bottom: number; right: number } {
  const nav = document.querySelector('.nav')?.getBoundingClientRect();
  const foot = nav !== undefined && nav.top > innerHeight / 2 ? nav.top : innerHeight;
  return { top: 0, left: 0, bottom: foot, right: document.documentElement.clientWidth };
}

function extensionsOf(options: EditorOptions, known: Known, language: Extension): Extension[] {
  const { label, readOnly, hint, onChange } = options;
  return [
    look,
    language,
    lineNumbers(),
    drawSelection(),
    history(),
    bracketMatching(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
    hoverFrom(known),
    tooltips({ tooltipSpace: roomForTooltips }),
    readOnly
      ? [EditorState.readOnly.of(true), keymap.of([...searchKeymap, ...defaultKeymap])]
      : [
          placeholder(hint),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          closeBrackets(),
          indentOnInput(),
          fixMenu,
          autocompletion({
            override: [completionsFrom(known)],
            icons: false,
            maxRenderedOptions: 80,
            activateOnTypingDelay: 60,
          }),
          keysOf(options),
        ],
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
  ];
}

/** Whether the writer has just typed and waits at the end of it: moving, choosing and Escape are other wishes. */
class TypingHand {
  #at: number | null = null;

  readonly watch: Extension = [
    EditorView.updateListener.of(({ docChanged, selectionSet, transactions, state }) => {
      if (!docChanged && !selectionSet) return;
      const typed = transactions.some((each) => each.isUserEvent('input.type'));
      this.#at = typed ? state.selection.main.head : null;
    }),
    Prec.highest(
      EditorView.domEventHandlers({
        keydown: ({ key }) => {
          if (key === 'Escape') this.#at = null;
        },
        blur: () => {
          this.#at = null;
        },
      }),
    ),
  ];

  get at(): number {
    return this.#at ?? 0;
  }

  /** Nor has an offer been looked through with the arrows. */
  rests({ state, hasFocus }: EditorView): boolean {
    return hasFocus && this.#at !== null && (selectedCompletionIndex(state) ?? 0) <= 0;
  }
}

export function makeEditor(parent: HTMLElement, options: EditorOptions): EditorHandle {
  const known: Known = { catalogue: NOTHING_KNOWN, tables: [] };
  const language = new Compartment();
  const extensions = extensionsOf(options, known, language.of(sqlLanguage(NOTHING_KNOWN)));
  const hand = new TypingHand();
  const view = new EditorView({ parent, doc: options.text, extensions: [extensions, hand.watch] });
  const learn = (more: Partial<Known>): void => {
    const before = { ...known };
    Object.assign(known, more);
    if (hand.rests(view) && offersMore(view.state.doc.toString(), hand.at, before, known))
      startCompletion(view);
  };
  return {
    setText(text) {
      const before = view.state.doc.toString();
      if (text !== before) view.dispatch({ changes: difference(before, text) });
    },
    setCatalogue(catalogue) {
      view.dispatch({ effects: language.reconfigure(sqlLanguage(catalogue)) });
      learn({ catalogue });
    },
    setTables: (tables) => learn({ tables }),
    setFindings(about, findings) {
      if (view.state.doc.toString() === about)
        view.dispatch(setDiagnostics(view.state, marksOf(about, findings)));
    },
    applyFix: (about, fix) => applyFix(view, about, fix),
    reveal(from, to = from) {
      const end = view.state.doc.length;
      view.dispatch({
        selection: { anchor: Math.min(from, end), head: Math.min(to, end) },
        scrollIntoView: true,
      });
      view.focus();
    },
    insert: (text) => view.dispatch(view.state.replaceSelection(text)),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
