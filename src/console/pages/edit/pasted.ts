/** Rows that were pasted on another page, on their way to the editor. */
import { signal } from '@preact/signals';

export const pasted = signal('');
