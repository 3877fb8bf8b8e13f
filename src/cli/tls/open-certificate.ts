import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '../../clock.ts';
import type { Options } from '../../options/options.ts';
import type { Listener } from '../../service/service.ts';
import { setInterval } from '../../timers.ts';
import type { Certificate, Renewal } from './certificate.ts';
import { readGivenCertificate } from './given-certificate.ts';
import { openOwnCertificate, temporaryCertificate } from './own-certificate.ts';

/** The interval of the check for renewal, in milliseconds. */
const day = 86_400_000;

/**
 * Opens the certificate that the options select: that of `--tls-cert`, that of the data directory, or, in memory, a
 * temporary one. Generates a missing one, but writes nothing before `save`. Throws CommandError if it cannot be used.
 */
export async function openCertificate({ tlsCert, tlsKey, memory, data }: Options): Promise<Certificate> {
  if (tlsCert !== undefined && tlsKey !== undefined)
    return readGivenCertificate({ cert: tlsCert, key: tlsKey }, systemClock);
  const context = { clock: systemClock, random: randomBytes };
  return memory ? temporaryCertificate(context) : openOwnCertificate(join(data, 'tls'), context);
}

/** Reloads the certificate on SIGHUP and renews it once a day if needed. Passes each result to `report`. */
export function renewCertificate(
  certificate: Certificate,
  listening: Listener,
  report: (message: string) => void,
): void {
  const replace = async (load: () => Promise<Renewal | undefined>): Promise<void> => {
    try {
      const renewal = await load();
      if (renewal === undefined) return;
      listening.replaceCertificate(renewal.identity);
      report(renewal.message);
    } catch (error) {
      report(`the certificate was not replaced: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  process.on('SIGHUP', () => void replace(certificate.reload));
  setInterval(() => void replace(certificate.renew), day).unref();
}
