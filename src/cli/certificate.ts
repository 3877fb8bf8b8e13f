import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import type { ServerIdentity } from '../net/server-identity.ts';
import type { Options } from '../options/options.ts';
import type { Listening } from '../service.ts';
import { givenCertificate } from './given-certificate.ts';
import { ownCertificate, passingCertificate } from './own-certificate.ts';

/** How often it is looked whether a certificate nears its end, in milliseconds. */
const day = 86_400_000;

/** A certificate that takes the place of the one before it, and what is told of that. */
export interface Renewal {
  readonly identity: ServerIdentity;
  readonly news: string;
}

/** What HTTPS is served with, and how it stays good. */
export interface Certificate {
  readonly identity: ServerIdentity;
  /** What is told of it at a start, one sentence each. */
  readonly notes: readonly string[];
  /** Where it is and until when it is valid, for a person. */
  readonly about: string;
  /** The file by which a client on this host can trust it; undefined when there is none. */
  readonly file: string | undefined;
  /** Puts what was made for it on the disk. */
  keep(): Promise<void>;
  /** Reads it again where somebody else looks after it. Throws Refusal. */
  reload(): Promise<Renewal | undefined>;
  /** Makes it anew, and keeps it, when it nears its end. */
  renew(): Promise<Renewal | undefined>;
}

/**
 * The certificate that the options ask for: given, from the data directory or made for it, or made for this process.
 * Writes nothing before `keep`. Throws Refusal when it cannot be used.
 */
export async function openCertificate({ tlsCert, tlsKey, memory, data }: Options): Promise<Certificate> {
  if (tlsCert !== undefined && tlsKey !== undefined)
    return givenCertificate({ cert: tlsCert, key: tlsKey }, systemClock);
  const surroundings = { clock: systemClock, random: randomBytes };
  return memory ? passingCertificate(surroundings) : ownCertificate(join(data, 'tls'), surroundings);
}

/** From now on a hang-up (SIGHUP) reloads the certificate, and once a day it is seen to. `tell` says what came of it. */
export function tend(certificate: Certificate, listening: Listening, tell: (news: string) => void): void {
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
