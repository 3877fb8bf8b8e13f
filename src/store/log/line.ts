// A log is a sequence of files `NAME-N.jsonl` to which lines are appended. Every line is JSON, and begins with a checksum.
import { crc32 } from 'node:zlib';

/** The length of `{"crc":"89abcdef"`. */
const prefixLength = 17;

/**
 * The bytes that the checksum of a line covers. `line`: those between the first comma and the line end. `chain`: the comma and
 * the line end too; it continues the checksum of the previous line, so that a missing, repeated or moved line is detected.
 */
export type Coverage = 'line' | 'chain';

/** Formats a line whose checksum covers this line only. `members` is JSON without the opening brace. */
export function formatLine(members: string): string {
  return `${formatPrefix(crc32(members))},${members}\n`;
}

/** Formats lines whose checksums form a chain. */
export class ChainedLines {
  /** All lines. */
  text = '';
  /** The checksum of the last line. */
  checksum: number;

  /** @param checksum the checksum of the previous line */
  constructor(checksum = 0) {
    this.checksum = checksum;
  }

  /** Adds a line. `members` is JSON without the opening brace. */
  add(members: string): void {
    const rest = `,${members}\n`;
    this.checksum = crc32(rest, this.checksum);
    this.text += formatPrefix(this.checksum) + rest;
  }
}

/**
 * Verifies a line, which is passed without its end. Returns its checksum, or undefined if it does not match.
 * @param before the checksum of the previous line
 */
export function verifyLine(line: Buffer, coverage: Coverage, before: number): number | undefined {
  const checksum =
    coverage === 'line'
      ? crc32(line.subarray(prefixLength + 1))
      : crc32('\n', crc32(line.subarray(prefixLength), before));
  const prefix = `${formatPrefix(checksum)},`;
  return line.toString('latin1', 0, prefix.length) === prefix ? checksum : undefined;
}

/** Returns the name of a file of a log. */
export function formatLogName(log: 'journal' | 'nonces', number: number): string {
  return `${log}-${number}.jsonl`;
}

/** Returns the number in the name of a file of a log; undefined for any other name. */
export function parseLogName(log: 'journal' | 'nonces', name: string): number | undefined {
  const digits =
    name.startsWith(`${log}-`) && /^(0|[1-9][0-9]{0,14})\.jsonl$/.exec(name.slice(log.length + 1))?.[1];
  return digits ? Number(digits) : undefined;
}

/** Returns the numbers of the files of a log among these names, in ascending order. */
export function listLogNumbers(log: 'journal' | 'nonces', names: readonly string[]): number[] {
  const numbers = names.map((name) => parseLogName(log, name)).filter((number) => number !== undefined);
  return numbers.sort((one, other) => one - other);
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Formats a CRC-32 as the files of a store contain it: eight lower-case hexadecimal digits. */
export function formatChecksum(checksum: number): string {
  // toString(16) takes five times as long for a number above 2^31.
  return (
    formatByte(checksum >>> 24) +
    formatByte(checksum >>> 16) +
    formatByte(checksum >>> 8) +
    formatByte(checksum)
  );
}

/** Formats the lowest byte of a number. */
function formatByte(number: number): string {
  return hexOfByte[number & 0xff] ?? '';
}

function formatPrefix(checksum: number): string {
  return `{"crc":"${formatChecksum(checksum)}"`;
}
