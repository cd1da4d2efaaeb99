/** The words of an SQL text, for colours: no parser, and it never fails. Pure. */

export type TokenKind = 'keyword' | 'type' | 'string' | 'number' | 'comment' | 'function' | 'text';

export type Token = { kind: TokenKind; text: string };

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const KEYWORDS = words(
  'ADD ALL AND AS ASC ASOF ASYNC BETWEEN BY CASE CAST CREATE CROSS DEFINE DELETE DESC DISTINCT DROP ELSE END ESCAPE EXCEPT EXISTS FALSE FILTER FIRST FOLLOWING FOR FROM FULL FUNCTION GENERATED GROUP HAVING IF ILIKE IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN KEY LAST LATERAL LEFT LIKE LIMIT MATCH MATCH_RECOGNIZE MEASURES METADATA NATURAL NOT NULL NULLS OF OFFSET ON ONE OR ORDER OUTER OVER PARTITION PARTITIONED PAST PATTERN PER PRECEDING PRIMARY RANGE RETURNS RIGHT ROW ROWS SELECT SET SKIP SYSTEM_TIME TABLE TEMPORARY THEN TO TRUE UNBOUNDED UNION UNNEST USING VALUES VIEW VIRTUAL WATERMARK WHEN WHERE WINDOW WITH WITHIN STORED LANGUAGE AFTER',
);

const TYPES = words(
  'ARRAY BIGINT BINARY BOOLEAN BYTEA DATE DECIMAL DOUBLE FLOAT INT INTEGER JSON NUMERIC REAL SMALLINT STRING STRUCT TEXT TIME TIMESTAMP TIMESTAMPTZ TINYINT UNSIGNED VARCHAR',
);

const TOKEN =
  /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*(?:'|$)|\$\$[\s\S]*?(?:\$\$|$))|("(?:[^"]|"")*(?:"|$))|(\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)|([A-Za-z_][A-Za-z0-9_]*)|(\s+|[^\sA-Za-z0-9_'"$/-]+|[\s\S])/gi;

/** Together the tokens are the text. */
export function sqlTokens(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const [whole, comment, string, quoted, number, word] = match;
    const kind: TokenKind =
      comment !== undefined
        ? 'comment'
        : string !== undefined
          ? 'string'
          : number !== undefined
            ? 'number'
            : word !== undefined
              ? kindOf(word, text, match.index + word.length)
              : 'text';
    const last = tokens.at(-1);
    if (kind === 'text' && last?.kind === 'text' && quoted === undefined) last.text += whole;
    else tokens.push({ kind, text: whole });
  }
  return tokens;
}

function kindOf(word: string, text: string, end: number): TokenKind {
  const upper = word.toUpperCase();
  if (TYPES.has(upper)) return 'type';
  const isCall = /^\s*\(/.test(text.slice(end, end + 8));
  if (KEYWORDS.has(upper) && !(isCall && (upper === 'LEFT' || upper === 'RIGHT'))) return 'keyword';
  return isCall ? 'function' : 'text';
}
