/** The documentation that stands beside a completion, or at a name that is pointed at. */
import type { Described } from './completion.ts';

export function documentation({ label, detail, doc, code }: Described): HTMLElement | null {
  if (doc === '' && code.length === 0) return null;
  const box = element('div', 'editor-doc', '');
  const head = element('div', 'editor-doc-head', '');
  head.append(element('strong', '', label), element('span', '', detail));
  box.append(head);
  if (doc !== '') box.append(element('p', '', doc));
  if (code.length > 0) box.append(element('pre', '', code.join('\n')));
  return box;
}

export function element(tag: string, className: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  if (text !== '') made.textContent = text;
  return made;
}
