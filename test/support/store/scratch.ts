import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Makes an empty directory (mode 0700) that is removed when the test ends. */
export async function scratchDirectory(context?: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'countersign-store-'));
  context?.after(() => removeDirectory(directory));
  return directory;
}

/** Removes a directory and all in it. */
export async function removeDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
}
