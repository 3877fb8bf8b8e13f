import type { Clock } from '../../clock.ts';
import type { TlsIdentity } from '../../net/tls/identity.ts';
import { readIdentity, readValidity, tryIdentity } from '../../net/tls/identity-reader.ts';
import { toPrintable } from '../../options/flags.ts';
import { CommandError } from '../errors.ts';
import type { Certificate } from './certificate.ts';
import { isoTime, type PemFiles, readPem, validityWarnings, withNames } from './pem-files.ts';

/** Reads the certificate and key of `--tls-cert` and `--tls-key`. Throws CommandError if they cannot be used. */
export async function readGivenCertificate(files: PemFiles, clock: Clock): Promise<Certificate> {
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
