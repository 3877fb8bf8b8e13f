// A log is a sequence of files `NAME-N.jsonl` to which lines are appended. Every line is JSON, and begins with the checksum of the bytes
// between its first comma and its end. The first line of a file is its head; the other lines are numbered, and the numbers continue
// from file to file, so that a missing, repeated or moved line is detected.
import { crc32 } from 'node:zlib';

/** The length of `{"crc":"89abcdef",`. */
const prefixLength = 18;

/** The name of a log. */
export type LogName = 'journal' | 'nonces';

/** Formats a line. `members` is JSON without the opening brace. */
export function formatLine(members: string): string {
  return `${formatPrefix(crc32(members))}${members}\n`;
}

/** Returns whether a line, which is passed without its end, has the checksum that it begins with. */
export function isVerified(line: Buffer): boolean {
  return line.toString('latin1', 0, prefixLength) === formatPrefix(crc32(line.subarray(prefixLength)));
}

/** Returns the name of a file of a log. */
export function formatLogName(log: LogName, number: number): string {
  return `${log}-${number}.jsonl`;
}

/** Returns the number in the name of a file of a log; undefined for any other name. */
export function parseLogName(log: LogName, name: string): number | undefined {
  const digits =
    name.startsWith(`${log}-`) && /^(0|[1-9][0-9]{0,14})\.jsonl$/.exec(name.slice(log.length + 1))?.[1];
  return digits ? Number(digits) : undefined;
}

/** Returns the numbers of the files of a log among these names, in ascending order. */
export function listLogNumbers(log: LogName, names: readonly string[]): number[] {
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
  return `{"crc":"${formatChecksum(checksum)}",`;
}
