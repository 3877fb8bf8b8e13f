import type { Clock } from '../../clock.ts';
import type { ServerIdentity } from '../../net/tls/identity.ts';
import { readIdentity, tryIdentity, validityOf } from '../../net/tls/identity-reader.ts';
import { printable } from '../../options/flags.ts';
import { CommandError } from '../errors.ts';
import type { Certificate } from './certificate.ts';
import { isoTime, type PemFiles, readPem, validityWarnings, withNames } from './pem-files.ts';

/** The certificate and the key in files that somebody else looks after. Throws Refusal when they cannot be used. */
export async function givenCertificate(files: PemFiles, clock: Clock): Promise<Certificate> {
  const { identity, subject, from, until } = await readGiven(files);
  return {
    identity,
    notes: validityWarnings(files.cert, { from, until }, clock.now()),
    about: `${files.cert}, ${subject}, valid until ${isoTime(until)}`,
    file: undefined,
    keep: async () => {},
    async reload() {
      const read = await readGiven(files);
      return {
        identity: read.identity,
        news: `the certificate in ${files.cert} was read again, and is valid until ${isoTime(read.until)}`,
      };
    },
    renew: async () => undefined,
  };
}

interface Given {
  readonly identity: ServerIdentity;
  readonly subject: string;
  readonly from: number;
  readonly until: number;
}

async function readGiven(files: PemFiles): Promise<Given> {
  const [cert, key] = await Promise.all([readExisting(files.cert), readExisting(files.key)]);
  const identity = { cert, key };
  return withNames(files, '', () => {
    const { certificate } = readIdentity(identity);
    tryIdentity(identity);
    const subject = printable(certificate.subject?.replaceAll('\n', ', ') ?? 'without a subject');
    return { identity, subject, ...validityOf(certificate) };
  });
}

async function readExisting(path: string): Promise<Buffer> {
  const content = await readPem(path);
  if (content === undefined) throw new CommandError([`${path} is not there`], 1);
  return content;
}
