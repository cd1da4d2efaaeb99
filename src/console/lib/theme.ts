/** Dark or light: what the system prefers, until the user has chosen. */
import { signal } from '@preact/signals';
import { keep } from './kept.ts';

export type Theme = 'dark' | 'light';

const KEY = 'thalweg.theme';

export const theme = signal<Theme>(
  document.documentElement.dataset['theme'] === 'light' ? 'light' : 'dark',
);

export function chooseTheme(next: Theme): void {
  theme.value = next;
  document.documentElement.dataset['theme'] = next;
  keep(KEY, next);
}

/** The present value of a token of `styles/tokens.css`, for drawing on a canvas. */
export const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
