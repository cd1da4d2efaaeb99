/** Numbers as JSON and SQL write them, looked at as text. */
import { skipNumber } from './json-grammar.ts';

/** Whether the first `size` bytes are exactly one number as JSON writes it; a `+` is not. */
export function isNumber(bytes: Uint8Array, size: number): boolean {
  bytes[size] = 10;
  return skipNumber(bytes, 0) === size;
}

export function asciiText(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at++) text += String.fromCharCode(bytes[at] as number);
  return text;
}

/** Whether a number has no fraction: `12`, `12.00`, `1.5e3`. */
export function isWhole(text: string): boolean {
  const parts = /^[+-]?(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text);
  if (parts === null) return false;
  const fraction = (parts[2] ?? '').replace(/0+$/, '');
  const digits = (parts[1] as string) + fraction;
  const exponent = Number(parts[3] ?? 0) - fraction.length;
  const trailing = digits.length - digits.replace(/0+$/, '').length;
  return !/[1-9]/.test(digits) || exponent + trailing >= 0;
}
