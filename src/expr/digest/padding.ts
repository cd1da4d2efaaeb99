/**
 * The message as MD5 and SHA-2 want it: followed by a one bit, zeros, and its length in bits at the end of the last
 * block.
 *
 * @param block  bytes of a block: 64, or 128 with a length of 16 bytes
 */
export function paddedMessage(
  bytes: Uint8Array,
  from: number,
  to: number,
  block: 64 | 128,
  littleEndian: boolean,
): DataView {
  const size = to - from;
  const padded = new Uint8Array(Math.ceil((size + 1 + block / 8) / block) * block);
  padded.set(bytes.subarray(from, to));
  padded[size] = 0x80;
  const view = new DataView(padded.buffer);
  const low = (size << 3) >>> 0;
  const high = Math.floor(size / 0x20000000);
  view.setUint32(padded.length - (littleEndian ? 8 : 4), low, littleEndian);
  view.setUint32(padded.length - (littleEndian ? 4 : 8), high, littleEndian);
  return view;
}
