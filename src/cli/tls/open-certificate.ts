import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '../../clock.ts';
import type { Options } from '../../options/options.ts';
import type { Listening } from '../../service/service.ts';
import { setInterval } from '../../timers.ts';
import type { Certificate, Renewal } from './certificate.ts';
import { givenCertificate } from './given-certificate.ts';
import { ownCertificate, temporaryCertificate } from './own-certificate.ts';

/** How often it is looked whether a certificate nears its end, in milliseconds. */
const day = 86_400_000;

/**
 * The certificate that the options ask for: given, from the data directory or made for it, or made for this process.
 * Writes nothing before `keep`. Throws Refusal when it cannot be used.
 */
export async function openCertificate({ tlsCert, tlsKey, memory, data }: Options): Promise<Certificate> {
  if (tlsCert !== undefined && tlsKey !== undefined)
    return givenCertificate({ cert: tlsCert, key: tlsKey }, systemClock);
  const surroundings = { clock: systemClock, random: randomBytes };
  return memory ? temporaryCertificate(surroundings) : ownCertificate(join(data, 'tls'), surroundings);
}

/** From now on a hang-up (SIGHUP) reloads the certificate, and once a day it is seen to. `tell` says what came of it. */
export function renewCertificate(
  certificate: Certificate,
  listening: Listening,
  tell: (news: string) => void,
): void {
  const replace = async (fresh: () => Promise<Renewal | undefined>): Promise<void> => {
    try {
      const renewal = await fresh();
      if (renewal === undefined) return;
      listening.replaceCertificate(renewal.identity);
      tell(renewal.news);
    } catch (error) {
      tell(`the certificate stays as it was: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  process.on('SIGHUP', () => void replace(certificate.reload));
  setInterval(() => void replace(certificate.renew), day).unref();
}
