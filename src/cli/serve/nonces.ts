import { randomBytes } from 'node:crypto';
import { systemClock } from '../../clock.ts';
import type { Options } from '../../options/options.ts';
import type { NonceClaim } from '../../principal.ts';
import { openNonces } from '../../store/nonces/file.ts';

/** Adds unexpired nonces to the nonce file of a directory. Passes a line to `report` for each loss in that file. */
export async function addNonces(
  directory: string,
  added: readonly NonceClaim[],
  options: Pick<Options, 'nonceWindow' | 'maxNonces'>,
  report: (line: string) => void,
): Promise<void> {
  const now = systemClock.now();
  const live = added.filter(({ until }) => until >= now);
  if (live.length === 0) return;
  const { maxNonces: max, nonceWindow: window } = options;
  const nonces = await openNonces({
    directory,
    durability: 'fsync',
    window,
    max,
    maxPerUser: max,
    key: randomBytes(16),
    clock: systemClock,
    onWarning: report,
  });
  await nonces.begin();
  for (const { user, nonce, until } of live) nonces.claim(user, nonce, until, now);
  await nonces.kept(true);
  await nonces.close();
}
