/** What is told of a row that errors.raw = 'redact' hides, in the place of a message, which may quote what the row holds. */
export const REDACTED = "the row is not shown: errors.raw = 'redact'";
