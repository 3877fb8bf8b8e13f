import { randomBytes } from 'node:crypto';
import { systemClock } from '../../clock.ts';
import type { Options } from '../../options/options.ts';
import { openNonces } from '../../store/nonces/file.ts';
import type { StoredNonce } from '../../store/store.ts';

/** Keeps nonces of journals that are about to go, beside those that a directory has; `tell` is told what was lost. */
export async function openNonceFile(
  directory: string,
  kept: readonly StoredNonce[],
  options: Pick<Options, 'window' | 'maxNonces'>,
  tell: (line: string) => void,
): Promise<void> {
  const now = systemClock.now();
  const live = kept.filter(({ until }) => until >= now);
  if (live.length === 0) return;
  const window = options.window * 1000;
  const { maxNonces: max } = options;
  const given = {
    directory,
    durability: 'fsync',
    window,
    max,
    maxPerUser: max,
    key: randomBytes(16),
    clock: systemClock,
    tell,
  } as const;
  const nonces = await openNonces(given);
  await nonces.begin();
  for (const { user, nonce, until } of live) nonces.claim(user, nonce, until, now);
  await nonces.kept(true);
  await nonces.close();
}
