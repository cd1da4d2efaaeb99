/** Whether one JSON value holds another, as Postgres' `@>`: objects by keys, arrays as sets, numbers by value. */
import { decodeBytes } from '../text-sink.ts';
import { eachMember, findKey, found, kindOf, stringAt } from './json-bytes.ts';

/** The digits and the power of ten of a number, so that equal numbers have equal texts whatever their size. */
function canonicalNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - kept.length);
  return `${sign}${kept}e${power}`;
}

function sameScalar(
  left: Uint8Array,
  at: number,
  end: number,
  right: Uint8Array,
  other: number,
  otherEnd: number,
): boolean {
  const kind = kindOf(left, at);
  if (kind !== kindOf(right, other)) return false;
  if (kind === 'string') return stringAt(left, at, end) === stringAt(right, other, otherEnd);
  const [a, b] = [decodeBytes(left, at, end), decodeBytes(right, other, otherEnd)];
  return a === b || (kind === 'number' && canonicalNumber(a) === canonicalNumber(b));
}

const isNested = (kind: string): boolean => kind === 'object' || kind === 'array';

export function jsonContains(
  left: Uint8Array,
  at: number,
  end: number,
  right: Uint8Array,
  other: number,
  otherEnd: number,
  top = true,
): boolean {
  const [kind, otherKind] = [kindOf(left, at), kindOf(right, other)];
  // At the top an array holds what one of its elements is.
  if (top && kind === 'array' && !isNested(otherKind))
    return someElement(left, at, end, right, other, otherEnd);
  if (kind !== otherKind) return false;
  if (!isNested(kind)) return sameScalar(left, at, end, right, other, otherEnd);
  let all = true;
  eachMember(right, other, otherEnd, (key, keyEnd, value, valueEnd) => {
    if (kind === 'array') all = someElement(left, at, end, right, value, valueEnd);
    else {
      const name = new TextEncoder().encode(stringAt(right, key, keyEnd));
      all =
        findKey(left, at, end, name, 0, name.length) &&
        jsonContains(left, found.at, found.end, right, value, valueEnd, false);
    }
    return all;
  });
  return all;
}

function someElement(
  left: Uint8Array,
  at: number,
  end: number,
  right: Uint8Array,
  other: number,
  otherEnd: number,
): boolean {
  let some = false;
  eachMember(left, at, end, (_key, _keyEnd, value, valueEnd) => {
    some = jsonContains(left, value, valueEnd, right, other, otherEnd, false);
    return !some;
  });
  return some;
}
