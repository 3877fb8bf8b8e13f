import type { Disk, ReadableFile } from './disk.ts';

const newline = 0x0a;
const chunkSize = 1024 * 1024;
/** The maximum length of a line or block in bytes. No string could be longer. */
const maxLength = 512 * 1024 * 1024;

/**
 * Reads a file from its start to its end. Returns whether there is such a file.
 * @param take called with the bytes that were read and not consumed yet, whether the file has ended, and its length. Returns the
 *   number of bytes consumed; the others are passed again, followed by more. The bytes are only valid during the call.
 */
export async function readInChunks(
  disk: Disk,
  path: string,
  take: (bytes: Buffer, ended: boolean, size: number) => number,
): Promise<boolean> {
  const file = await disk.openToRead(path);
  if (file === undefined) return false;
  try {
    await readOpened(file, take);
    return true;
  } finally {
    await file.close();
  }
}

async function readOpened(file: ReadableFile, take: Parameters<typeof readInChunks>[2]): Promise<void> {
  let buffer: Buffer = Buffer.allocUnsafe(Math.max(1, Math.min(chunkSize, file.size + 1)));
  let [filled, position] = [0, 0];
  for (;;) {
    const read = await file.read(buffer.subarray(filled), position);
    filled += read;
    position += read;
    if (read > 0 && filled < buffer.length) continue;
    const taken = take(buffer.subarray(0, filled), read === 0, file.size);
    if (read === 0) return;
    if (taken === 0) buffer = enlargeBuffer(buffer);
    else buffer.copyWithin(0, taken, filled);
    filled -= taken;
  }
}

/**
 * Calls `take` with each line of the bytes; at the end of the file (`ended`) also with the bytes after the last line
 * end. Returns the number of bytes consumed.
 */
export function splitLines(bytes: Buffer, ended: boolean, take: (line: Buffer) => void): number {
  let at = 0;
  for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, at)) {
    take(bytes.subarray(at, end));
    at = end + 1;
  }
  if (!ended || at === bytes.length) return at;
  take(bytes.subarray(at));
  return bytes.length;
}

function enlargeBuffer(buffer: Buffer): Buffer {
  if (buffer.length >= maxLength) throw new RangeError('a line or block of the file is too long');
  const larger = Buffer.allocUnsafe(buffer.length * 2);
  buffer.copy(larger);
  return larger;
}
