import { randomBytes } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../clock.ts';
import type { TlsIdentity } from '../../net/tls/identity.ts';
import { readIdentity, readValidity, tryIdentity } from '../../net/tls/identity-reader.ts';
import { toPrintable } from '../../options/flags.ts';
import type { Options } from '../../options/options.ts';
import type { Listener } from '../../service/service.ts';
import { setInterval } from '../../timers.ts';
import { CommandError } from '../errors.ts';
import {
  type Certificate,
  isoTime,
  type PemFiles,
  type Renewal,
  readPem,
  validityWarnings,
  withNames,
} from './certificate.ts';
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

/** Reloads the certificate on SIGHUP of `process`, and renews it once a day if needed. Passes each result to `report`. */
export function renewCertificate(
  certificate: Certificate,
  listening: Listener,
  report: (message: string) => void,
  process: EventEmitter,
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

/** Reads the certificate and key of `--tls-cert` and `--tls-key`. Throws CommandError if they cannot be used. */
async function readGivenCertificate(files: PemFiles, clock: Clock): Promise<Certificate> {
  const { identity, subject, from, until } = await readFiles(files);
  return {
    identity,
    notes: validityWarnings(files.cert, { from, until }, clock.now()),
    about: `${files.cert}, ${subject}, valid until ${isoTime(until)}`,
    file: undefined,
    save: async () => {},
    async reload() {
      const read = await readFiles(files);
      return {
        identity: read.identity,
        message: `reloaded the certificate ${files.cert}, valid until ${isoTime(read.until)}`,
      };
    },
    renew: async () => undefined,
  };
}

interface ParsedFiles {
  readonly identity: TlsIdentity;
  readonly subject: string;
  /** The start and end of validity, in milliseconds since the epoch. */
  readonly from: number;
  readonly until: number;
}

async function readFiles(files: PemFiles): Promise<ParsedFiles> {
  const [cert, key] = await Promise.all([readExisting(files.cert), readExisting(files.key)]);
  const identity = { cert, key };
  return withNames(files, '', () => {
    const { certificate } = readIdentity(identity);
    tryIdentity(identity);
    const subject = toPrintable(certificate.subject?.replaceAll('\n', ', ') ?? 'without a subject');
    return { identity, subject, ...readValidity(certificate) };
  });
}

async function readExisting(path: string): Promise<Buffer> {
  const content = await readPem(path);
  if (content === undefined) throw new CommandError([`${path} does not exist`], 1);
  return content;
}
