import { clipText, type XmlErrorCode } from './error.ts';

/** A rule that an XML declaration violates: the index in the text, and what was expected there. */
interface DeclarationViolation {
  readonly code: XmlErrorCode;
  readonly at: number;
  readonly expected: string;
  /** What was found, if it is more than the character at `at`. */
  readonly found?: string;
  readonly encoding?: string;
}

/**
 * Checks an XML declaration (XML 1.0 §2.8 [23]): the version, then optionally the encoding, then optionally
 * standalone.
 * @param text the text between `<?xml` and `?>`
 * @param from the index in the document at which `text` begins
 * @param isUtf8 whether the document is known to be in UTF-8, so that the declared encoding does not matter
 */
export function checkXmlDeclaration(
  text: string,
  from: number,
  isUtf8: boolean,
): DeclarationViolation | undefined {
  const version = pseudoAttribute(text, 0, 'version');
  if (version === undefined) return violation(from + blanks(text, 0), 'version="1.0"');
  if (!/^1\.[0-9]+$/.test(version.value)) {
    const found = `version ${JSON.stringify(clipText(version.value))}`;
    return { code: 'version', at: from + version.at, expected: 'version 1.0', found };
  }
  const encoding = pseudoAttribute(text, version.end, 'encoding');
  if (encoding !== undefined) {
    if (!/^[A-Za-z][A-Za-z0-9._-]*$/.test(encoding.value))
      return violation(from + encoding.at, 'an encoding name');
    if (!isUtf8 && encoding.value.toLowerCase() !== 'utf-8') {
      const { at, value } = encoding;
      return {
        code: 'encoding',
        at: from + at,
        expected: 'UTF-8',
        found: `"${clipText(value)}"`,
        encoding: clipText(value),
      };
    }
  }
  const standalone = pseudoAttribute(text, (encoding ?? version).end, 'standalone');
  if (standalone !== undefined && !/^(?:yes|no)$/.test(standalone.value)) {
    return violation(from + standalone.at, '"yes" or "no"');
  }
  const end = (standalone ?? encoding ?? version).end;
  const rest = end + blanks(text, end);
  if (rest === text.length) return undefined;
  return violation(from + rest, standalone === undefined ? 'encoding, standalone or "?>"' : '"?>"');
}

interface PseudoAttribute {
  readonly value: string;
  /** Where the value begins. */
  readonly at: number;
  /** The index after the closing quote. */
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

/** Returns the number of white-space characters at `from`. */
function blanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1;
  return at - from;
}

function violation(at: number, expected: string): DeclarationViolation {
  return { code: 'declaration', at, expected };
}
