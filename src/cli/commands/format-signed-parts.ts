import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { SignedPart } from '../../signature/signing.ts';

/** The longest part that is shown as a whole, in characters. */
const longestShown = 1000;

/** Formats the parts of a message, one per line. Literal text is in quotes. */
export function formatParts(scheme: string, parts: readonly SignedPart[]): string {
  if (parts.length === 0) return `The scheme ${scheme} signs no message: it sends the secret itself.\n`;
  const width = Math.max(...parts.map(({ name }) => name.length || literalName.length));
  const lines = parts.map(({ name, value }) =>
    name === ''
      ? `  ${literalName.padEnd(width)}  ${JSON.stringify(formatValue(value))}`
      : `  ${name.padEnd(width)}  ${escapeControls(formatValue(value))}`,
  );
  return `The scheme ${scheme} signs:\n${lines.map((line) => `${line.trimEnd()}\n`).join('')}`;
}

const literalName = '(text)';

/** Returns a value as text, shortened; of other content its length and digest. */
function formatValue(value: string | Uint8Array): string {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'latin1') : Buffer.from(value);
  if (!isUtf8(bytes)) {
    const digest = createHash('sha256').update(bytes).digest('hex');
    return `${bytes.length} bytes that are not UTF-8, SHA-256 ${digest}`;
  }
  const text = bytes.toString('utf8');
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}… (${bytes.length} bytes)`;
}

/** Writes control characters, line ends included, as in JSON. */
function escapeControls(text: string): string {
  return text.replace(/[\0-\x1f\x7f-\x9f]/g, (character) => {
    const escaped = JSON.stringify(character).slice(1, -1);
    return escaped.startsWith('\\') ? escaped : `\\u00${character.charCodeAt(0).toString(16)}`;
  });
}
