import { clipped, type XmlErrorCode } from '../error.ts';

/** What is wrong with an XML declaration: at which index of the text, and what should be there. */
export interface DeclarationFault {
  readonly code: XmlErrorCode;
  readonly at: number;
  readonly expected: string;
  /** What is there, if it is more than the character at `at`. */
  readonly found?: string;
  readonly encoding?: string;
}

/**
 * Judges an XML declaration (XML 1.0 §2.8 [23]): version, then perhaps encoding, then perhaps standalone.
 * `text` is what stands between `<?xml` and `?>`, and begins at `from` in the document.
 */
export function declarationFault(text: string, from: number): DeclarationFault | undefined {
  const version = pseudoAttribute(text, 0, 'version');
  if (version === undefined) return fault(from + blanks(text, 0), 'version="1.0"');
  if (!/^1\.[0-9]+$/.test(version.value)) {
    const found = `version ${JSON.stringify(clipped(version.value))}`;
    return { code: 'version', at: from + version.at, expected: 'version 1.0', found };
  }
  const encoding = pseudoAttribute(text, version.end, 'encoding');
  if (encoding !== undefined) {
    if (!/^[A-Za-z][A-Za-z0-9._-]*$/.test(encoding.value))
      return fault(from + encoding.at, 'the name of an encoding');
    if (encoding.value.toLowerCase() !== 'utf-8') {
      const { at, value } = encoding;
      return {
        code: 'encoding',
        at: from + at,
        expected: 'UTF-8',
        found: `"${clipped(value)}"`,
        encoding: clipped(value),
      };
    }
  }
  const standalone = pseudoAttribute(text, (encoding ?? version).end, 'standalone');
  if (standalone !== undefined && !/^(?:yes|no)$/.test(standalone.value)) {
    return fault(from + standalone.at, '"yes" or "no"');
  }
  const end = (standalone ?? encoding ?? version).end;
  const rest = end + blanks(text, end);
  if (rest === text.length) return undefined;
  return fault(from + rest, standalone === undefined ? 'encoding, standalone or "?>"' : '"?>"');
}

interface PseudoAttribute {
  readonly value: string;
  /** Where the value begins. */
  readonly at: number;
  /** Where what follows it begins. */
  readonly end: number;
}

function pseudoAttribute(text: string, from: number, name: string): PseudoAttribute | undefined {
  const pattern = /[ \t\r\n]+([a-z]+)[ \t\r\n]*=[ \t\r\n]*(?:"([^"]*)"|'([^']*)')/y;
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  if (match === null || match[1] !== name) return undefined;
  const value = match[2] ?? match[3] ?? '';
  return { value, at: pattern.lastIndex - value.length - 1, end: pattern.lastIndex };
}

/** How many characters of white space there are at `from`. */
function blanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1;
  return at - from;
}

function fault(at: number, expected: string): DeclarationFault {
  return { code: 'declaration', at, expected };
}
