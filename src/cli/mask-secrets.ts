import { CommandError, describeError, reportError } from './errors.ts';
import type { Terminal } from './terminal.ts';

/**
 * Masks secrets in messages, since secrets and names are easily swapped; not a secret that looks like a word, which messages contain
 * themselves. The search is loaded only if there is a message.
 *
 * @param secrets returns the known secrets
 */
export async function maskSecrets(
  messages: readonly string[],
  secrets: () => readonly string[],
): Promise<readonly string[]> {
  if (messages.length === 0) return messages;
  const { createMask, isWord } = await import('../schemes/secret-search/secret-search.ts');
  const known = secrets().filter((secret) => !isWord(secret));
  return messages.map(createMask(() => known));
}

/** Masks secrets in lines. */
type Mask = (lines: readonly string[]) => Promise<readonly string[]>;

/** Runs a command without printing the secret of COUNTERSIGN_SECRET, also in errors. Returns the exit status. */
export async function runMasked(
  { COUNTERSIGN_SECRET: secret }: NodeJS.ProcessEnv,
  terminal: Terminal,
  run: (mask: Mask) => Promise<number>,
): Promise<number> {
  const mask: Mask = (lines) => maskSecrets(lines, () => (secret === undefined ? [] : [secret]));
  try {
    return await run(mask);
  } catch (error) {
    const { faults, status } = describeError(error);
    return reportError(new CommandError(await mask(faults), status), terminal);
  }
}
