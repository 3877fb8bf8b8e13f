import { mkdirSync } from 'node:fs';
import type { Stage } from '../measure/benchmark.ts';
import { startPart } from '../measure/part.ts';

/** Has a store made in a directory that has none, with so many articles, by a process of its own. A text says that it is not installed. */
export async function fillStore(
  stage: Stage,
  name: string,
  directory: string,
  count: number,
): Promise<string | undefined> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const node = ['--max-old-space-size=8192'];
  const part = await startPart(stage, 'store/part.ts', [name, directory, String(count)], { node });
  if (typeof part === 'string') return part;
  try {
    await part.ask('fill');
    return undefined;
  } catch (error) {
    // A package is loaded only when it is needed, and one that is not installed says so only then.
    const text = error instanceof Error ? error.message : String(error);
    const absent = /Cannot find (module|package)|ERR_UNKNOWN_BUILTIN_MODULE|No such built-in module/.test(
      text,
    );
    if (absent) return 'not installed';
    throw error;
  } finally {
    await part.stop();
  }
}
