/** What an audit says: what it found wrong, what it could not look at, and what it counted. */

/** What contradicts the protocol. Each name is one row of docs/audit.md. */
export type FindingCode =
  | 'CURRENT_BROKEN'
  | 'EPOCH_MISSING'
  | 'RECORD_BROKEN'
  | 'RECORD_FOREIGN'
  | 'PARENT_MISMATCH'
  | 'MANIFEST_MISSING'
  | 'MANIFEST_ALTERED'
  | 'MANIFEST_SWAPPED'
  | 'MANIFEST_INVALID'
  | 'STATE_MISSING'
  | 'STATE_ALTERED'
  | 'MARKER_MISSING'
  | 'MARKER_BROKEN'
  | 'MARKER_FOREIGN'
  | 'INPUT_GAP'
  | 'INPUT_OVERLAP'
  | 'INPUT_MISCOUNTED'
  | 'INPUT_ALTERED'
  | 'ROWS_MISCOUNTED'
  | 'OUTPUT_MISSING'
  | 'OUTPUT_ALTERED'
  | 'OUTPUT_TWICE'
  | 'OUTPUT_UNKNOWN';

export type Finding = {
  code: FindingCode;
  /** The epoch it is about; null when it is about none. */
  epoch: number | null;
  /** The object it is about; null when it is about none. */
  key: string | null;
  /** One line for people. */
  message: string;
};

export type AuditCounts = {
  epochs: number;
  fences: number;
  /** Generations that the epochs belong to. */
  generations: number;
  /** Manifests that are not canonical. */
  losers: number;
  stateFiles: number;
  stateBytes: number;
  inputRows: number;
  inputBytes: number;
  outputs: number;
  outputRows: number;
  outputBytes: number;
};

export type Verdict = {
  proved: boolean;
  /** The first and last epoch looked at; null: the lineage has none yet. */
  from: number | null;
  to: number | null;
  /** `hash` of the last entry (`entries.ts`): one value for everything that was looked at; null without epochs or where an epoch cannot be read. */
  chain: string | null;
  counts: AuditCounts;
  findings: Finding[];
  /** What could not be looked at, and why; no contradiction. */
  notes: string[];
};
