import { CorruptionError } from '../store/corruption-error.ts';
import { type Examined, examine, type RecoveryOptions } from '../store/recovery/recovery.ts';

/** The number of attempts to read a store that a running server may be replacing. */
const maxAttempts = 4;

/** Reads a store without changing it. If a process uses the directory, repeats that if the files do not match. */
export async function examineWithRetries(
  options: RecoveryOptions,
  holder: number | undefined,
): Promise<Examined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await examine(options);
    } catch (error) {
      if (!(error instanceof CorruptionError) || holder === undefined || attempt === maxAttempts) throw error;
    }
  }
}
