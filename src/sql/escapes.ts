/** Backslash escapes of `E'…'` strings. */

const SIMPLE: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

const ESCAPE =
  /''|\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{1,2})|([0-7]{1,3})|([\s\S]))/g;

/**
 * The value of the text between the quotes of an `E'…'` string, or null when an escape names no character.
 * An escaped character without a meaning of its own stands for itself.
 */
export function unescapeString(content: string): string | null {
  let valid = true;
  const value = content.replace(ESCAPE, (whole, four, eight, hex, octal, other) => {
    if (whole === "''") return "'";
    if (four !== undefined) return String.fromCharCode(Number.parseInt(four, 16));
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    if (eight !== undefined) {
      const point = Number.parseInt(eight, 16);
      if (point <= 0x10ffff) return String.fromCodePoint(point);
      valid = false;
      return '';
    }
    // A \u, \U or \x without its digits.
    if (other === 'u' || other === 'U' || other === 'x') valid = false;
    return SIMPLE[other as string] ?? (other as string);
  });
  return valid && value.isWellFormed() ? value : null;
}
