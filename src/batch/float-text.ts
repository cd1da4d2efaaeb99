/** FLOAT and DOUBLE as the shortest digits that read back as the same number. */

/**
 * The shortest digits that read back as the same 32-bit number, as JavaScript writes a number: nine
 * significant digits always do.
 */
export function float32Digits(value: number): string {
  if (!Number.isFinite(value) || value === 0) return String(value);
  for (let digits = 1; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return String(rounded);
  }
  return String(Number(value.toPrecision(9)));
}

/**
 * As Postgres lays it out: plain between 1e-4 and 1e15 (1e6 for FLOAT), otherwise with an exponent of
 * at least two digits.
 */
export function floatText(value: number, single = false): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const shortest = single ? Number(float32Digits(Math.abs(value))) : Math.abs(value);
  const [mantissa = '', written = '0'] = shortest.toExponential().split('e');
  const sign = value < 0 ? '-' : '';
  const exponent = Number(written);
  if (exponent < -4 || exponent >= (single ? 6 : 15)) {
    const power = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${power}`;
  }
  const digits = mantissa.replace('.', '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return sign + digits.padEnd(exponent + 1, '0');
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}
