import assert from 'node:assert/strict';
import { type Block, writeOutput } from '../support/documents/markdown.ts';

/** What differs from run to run, and what stands for it. */
const variable: readonly (readonly [RegExp, string])[] = [
  [/\r/g, ''],
  [/[A-Z][a-z]{2}, ?[0-9]{2} ?[A-Z][a-z]{2} ?[0-9]{4} ?[0-9:]{8} ?GMT/g, 'DATE'],
  [/\b[0-9]{1,2} ?[a-z]{3} ?[0-9]{4} ?[0-9]{2}:[0-9]{2}:[0-9]{2}\b/g, 'DATE'],
  [/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/g, 'TIME'],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'NONCE'],
  [/"[0-9a-f]{8}\.([0-9a-z.]+)"/g, '"STORE.$1"'],
  [/(?<![\w-])[\w-]{43}(?![\w=-])/g, 'SECRET'],
  [/(?<![\w-])[\w-]{22}(?![\w-])/g, 'NONCE'],
  [/ \([0-9.]+ms\)$/gm, ''],
  [/\b36[0-9]{2} s\b/g, 'AN HOUR'],
  [/\b(?:exactly|nearly) 1 hour\b/g, 'ABOUT AN HOUR'],
  [/("microseconds":)[0-9]+/g, '$1N'],
];

/** Returns the output without what differs from run to run, and without indentation and empty lines. */
export function stable(output: string): string {
  return variable
    .reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), output)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

/** Compares an output with the one that the document shows; rewrites the document if UPDATE_DOCUMENTS is set. */
export function expectOutput(path: string, block: Block, actual: string, context = ''): void {
  const [expected, found] = [stable(block.output ?? ''), stable(actual)];
  if (expected !== found && block.output !== undefined && process.env['UPDATE_DOCUMENTS'] !== undefined)
    writeOutput(path, block, actual);
  else assert.equal(found, expected, `${path}: the output of\n${block.text}\nis\n${actual}\n${context}`);
}
