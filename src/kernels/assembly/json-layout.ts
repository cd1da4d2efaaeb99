/** Where things stand in the descriptors that src/formats/json-scanner.ts writes. */

// A field: one column.
/** Numbered as in src/formats/json-slots.ts. */
export const KIND: usize = 0;
/** What a row without the key has: 1 NULL, 0 that is for the complete decoder. */
export const MISSING: usize = 4;
/** Values by row; of text its offsets. */
export const DATA: usize = 8;
/** One byte a row, 0 for NULL; 0 when the column has no NULL. */
export const PRESENT: usize = 12;
export const HEAP: usize = 16;
/** The row whose value was read last. */
export const STAMP: usize = 20;
/** Decimals: their scale. Timestamps: 1 when numbers are nanoseconds. Texts: 1 when they are checked and not kept. */
export const SCALE: usize = 24;
/** Decimals: 10^precision, or 0 when 18 digits always fit. Timestamps: micros of one unit; 0: numbers have no unit. */
export const LIMIT: usize = 32;
/** Timestamps: micros of the minute seen last, and its text. */
export const MINUTE: usize = 40;
export const MINUTE_TEXT: usize = 48;
export const FIELD_SIZE: u32 = 64;

// A token: the bytes between two values.
/** Its first 16 bytes. */
export const FIRST: usize = 0;
export const LENGTH: usize = 16;
/** One bit for each of the first 16 bytes that it has. */
export const MASK: usize = 20;
/** The field of its key; 0: no column has it, 1: and the complete decoder must see it. */
export const FIELD: usize = 24;
/** The token that followed last, or 0. */
export const NEXT: usize = 28;
/** Accepted rows with this key, when no column has it. */
export const COUNT: usize = 32;
/** All its bytes. */
export const BYTES: usize = 36;
export const TOKEN_SIZE: u32 = 48;

// A step: its text in the first 16 bytes, filled up with zeros.
/** Where the column's values lie; of the last step the length of what belongs to the object. */
export const TARGET: usize = 16;
/** Length of the text, and from the ninth bit on what follows it. */
export const WHAT: usize = 20;
export const STEP_FIELD: usize = 24;
/** The token of the key; 0: the step has none. */
export const TOKEN: usize = 28;
export const STEP_SIZE: usize = 32;

// What follows the text of a step.
/** More text. */
export const TEXT_ONLY: u32 = 0;
export const SKIP_STRING: u32 = 1;
export const INT64: u32 = 2;
export const SKIP_NUMBER: u32 = 3;
export const TIME: u32 = 4;
export const STRING: u32 = 5;
export const OTHER: u32 = 6;
export const SKIP_OTHER: u32 = 7;
/** The end of the row. */
export const END: u32 = 8;
/** Behind the end: a column that rows of the shape do not name. */
export const ABSENT: u32 = 9;
