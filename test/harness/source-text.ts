/**
 * TypeScript text with what is not code blanked out, so that a word in a comment or a string is not taken
 * for a use. Lengths and line breaks stay, so an offset means the same place before and after.
 */

export type Mask = {
  /** Comments are blank. */
  withStrings: string;
  /** Comments and the insides of strings, templates and regular expressions are blank; `${…}` is code and stays. */
  code: string;
};

/** After these a slash begins a regular expression; after a name, a number or a closing bracket it divides. */
const BEFORE_REGEX =
  /(?:^|[([{,;=:!&|?+\-*%<>~^}]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|new|yield|await))\s*$/;

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** End of the quoted string that starts at `from`; an unclosed one ends at the line's end. */
function endOfString(text: string, from: number): number {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return at + 1;
    else if (text[at] === '\n') return at;
  }
  return text.length;
}

/** End of the regular expression that starts at `from`, flags excluded. */
function endOfRegex(text: string, from: number): number {
  let inClass = false;
  for (let at = from + 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return at + 1;
    else if (char === '\n') return at;
  }
  return text.length;
}

/** End of the stretch of template text that starts at `from`: after the closing backtick or after `${`. */
function endOfTemplateText(text: string, from: number): { end: number; opens: boolean } {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '`') return { end: at + 1, opens: false };
    else if (text[at] === '$' && text[at + 1] === '{') return { end: at + 2, opens: true };
  }
  return { end: text.length, opens: false };
}

export function maskSource(text: string): Mask {
  let withStrings = '';
  let code = '';
  /** One entry per template we are inside of: how many braces are open in its `${…}`. */
  const templates: number[] = [];
  let at = 0;
  const takeComment = (end: number): void => {
    withStrings += blank(text.slice(at, end));
    code += blank(text.slice(at, end));
    at = end;
  };
  /** Keeps `opening` and `closing` characters of the literal, blanks what is between. */
  const takeLiteral = (end: number, opening: number, closing: number): void => {
    const literal = text.slice(at, end);
    const inside = Math.max(opening, literal.length - closing);
    withStrings += literal;
    code +=
      literal.slice(0, opening) + blank(literal.slice(opening, inside)) + literal.slice(inside);
    at = end;
  };
  const takeTemplateText = (opening: number): void => {
    const { end, opens } = endOfTemplateText(text, at + opening);
    if (opens) templates.push(0);
    takeLiteral(end, opening, opens ? 2 : 1);
  };
  while (at < text.length) {
    const char = text[at] as string;
    const next = text[at + 1];
    const open = templates.at(-1);
    if (char === '/' && next === '/') {
      const end = text.indexOf('\n', at);
      takeComment(end === -1 ? text.length : end);
    } else if (char === '/' && next === '*') {
      const end = text.indexOf('*/', at + 2);
      takeComment(end === -1 ? text.length : end + 2);
    } else if (char === '"' || char === "'") {
      takeLiteral(endOfString(text, at), 1, 1);
    } else if (char === '`') {
      takeTemplateText(1);
    } else if (char === '/' && BEFORE_REGEX.test(code.slice(-80))) {
      takeLiteral(endOfRegex(text, at), 1, 1);
    } else if (char === '}' && open === 0) {
      templates.pop();
      takeTemplateText(1);
    } else {
      if (open !== undefined && char === '{') templates[templates.length - 1] = open + 1;
      if (open !== undefined && char === '}') templates[templates.length - 1] = open - 1;
      withStrings += char;
      code += char;
      at += 1;
    }
  }
  return { withStrings, code };
}

/** 1-based line of an offset. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** `typesOnly`: the whole statement is `import type` or `export type`. */
export type Import = { specifier: string; line: number; typesOnly: boolean };

/** What a file imports: static, re-exported, dynamic and in types. */
export function importsOf(text: string): Import[] {
  const { withStrings, code } = maskSource(text);
  const found: Import[] = [];
  const opening = /\bfrom\s*(['"])|\bimport\s*(['"])|\bimport\s*\(\s*(['"`])/g;
  for (const match of code.matchAll(opening)) {
    const start = match.index + match[0].length;
    const quote = match[1] ?? match[2] ?? match[3] ?? '';
    const end = withStrings.indexOf(quote, start);
    const statement = Math.max(
      code.lastIndexOf('import', match.index),
      code.lastIndexOf('export', match.index),
    );
    found.push({
      specifier: withStrings.slice(start, end),
      line: lineAt(text, match.index),
      typesOnly: /^(?:import|export)\s+type\b/.test(code.slice(Math.max(0, statement))),
    });
  }
  return found;
}
