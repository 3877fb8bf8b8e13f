import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';

/**
 * Creates an empty directory (mode 0700). Hooks run in the order in which they were added: what has to end before the
 * directory is removed is added before this is called.
 * @param context The test after which it is removed. Default: the test that is running, or the last one of the file.
 */
export function temporaryDirectory(context?: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-'));
  // Tries again while a process that is ending still writes to it.
  const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };
  const remove = (): void => rmSync(directory, options);
  if (context === undefined) after(remove);
  else context.after(remove);
  return directory;
}
