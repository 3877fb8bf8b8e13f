import type { KeyObject, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { canCertify, makeCertificate, makeKey, pemOfKey } from '../../net/tls/certificate.ts';
import { IdentityError, type ServerIdentity } from '../../net/tls/identity.ts';
import { readIdentity, readKey, validityOf } from '../../net/tls/identity-reader.ts';
import { removeLeftovers, replaceFile } from '../../store/files/atomic-write.ts';
import { prepareDirectory } from '../../store/files/directory.ts';
import { nodeDisk } from '../../store/files/disk.ts';
import type { Random } from '../accounts/credentials.ts';
import type { Certificate } from './certificate.ts';
import { isoTime, type PemFiles, readPem, validityWarnings, withNames } from './pem-files.ts';

const day = 86_400_000;
/** How long a certificate is valid: no longer than clients take one of a public authority. */
const lifetime = 397 * day;
/** How long before its end it is made anew. */
const margin = 30 * day;

const subject = 'Countersign on localhost';
const names = ['localhost', '127.0.0.1', '::1'];

const [certName, keyName] = ['certificate.pem', 'key.pem'];

/** Where the time and chance come from. */
export interface CertificateContext {
  readonly clock: Clock;
  readonly random: Random;
}

/** A self-signed certificate and its key. */
interface SelfSigned {
  readonly key: KeyObject;
  readonly identity: ServerIdentity;
  readonly from: number;
  readonly until: number;
}

/** A self-signed certificate that ends with the process. */
export async function temporaryCertificate(surroundings: CertificateContext): Promise<Certificate> {
  const made = make(makeKey(), surroundings);
  const about = 'self-signed, made at each start';
  return tended(made, surroundings, nowhere, { notes: [], about, file: undefined, keep: nowhere });
}

/**
 * The certificate in this directory. What is missing there is made, by `keep`: both files, or a certificate for the key
 * when a first start ended between the two. One that was made here and nears its end is made anew with the same
 * key, so that one file changes and the two always belong together. Throws Refusal when something else is amiss.
 */
export async function ownCertificate(
  directory: string,
  surroundings: CertificateContext,
): Promise<Certificate> {
  const files: PemFiles = { cert: join(directory, certName), key: join(directory, keyName) };
  const hint = '; a start makes both when neither is there';
  const [cert, key] = await Promise.all([readPem(files.cert), readPem(files.key)]);
  return withNames(files, hint, () => {
    if (key === undefined && cert !== undefined)
      throw new IdentityError('key', `it is not there, and ${files.cert} is of no use without it`);
    const kept = key === undefined || cert !== undefined ? undefined : readKey(key);
    if (key === undefined || cert === undefined) return unmade(directory, files, kept, surroundings);
    return found(directory, files, { cert, key }, surroundings);
  });
}

/** Makes what is not there: both, or the certificate for a key that a first start wrote before it ended. */
function unmade(
  directory: string,
  files: PemFiles,
  kept: KeyObject | undefined,
  surroundings: CertificateContext,
): Certificate {
  if (kept !== undefined && !canCertify(kept))
    throw new IdentityError('key', 'the private key is not one of the curve P-256');
  const made = make(kept ?? makeKey(), surroundings);
  const write = (identity: ServerIdentity): Promise<void> => writePem(directory, certName, identity.cert);
  return tended(made, surroundings, write, {
    notes: [],
    about: `${files.cert}, self-signed, to be made`,
    file: files.cert,
    async keep() {
      await prepareDirectory(directory);
      // The key first: a certificate can be made for it, but not the other way round.
      if (kept === undefined) await writePem(directory, keyName, made.identity.key);
      await write(made.identity);
    },
  });
}

function found(
  directory: string,
  files: PemFiles,
  identity: ServerIdentity,
  surroundings: CertificateContext,
): Certificate {
  const { certificate, privateKey: key } = readIdentity(identity);
  const { from, until } = validityOf(certificate);
  const now = surroundings.clock.now();
  const ours = isOurs(certificate) && canCertify(key);
  const kind = ours ? 'self-signed' : 'not made here';
  const about = `${files.cert}, ${kind}, valid until ${isoTime(until)}`;
  const parts = {
    notes: validityWarnings(files.cert, { from, until }, now),
    about,
    file: files.cert,
    keep: nowhere,
  };
  if (!ours) return { identity, ...parts, reload: nothingNew, renew: nothingNew };
  const present = { key, identity, from, until };
  const write = (next: ServerIdentity): Promise<void> => writePem(directory, certName, next.cert);
  if (isFresh(present, now)) return tended(present, surroundings, write, parts);
  const made = make(present.key, surroundings);
  return tended(made, surroundings, write, {
    notes: [`${files.cert} is valid until ${isoTime(until)} and made anew, with the same key`],
    about: `${about}, to be made anew`,
    file: files.cert,
    keep: () => write(made.identity),
  });
}

/** A certificate of our own, which is made anew when it nears its end. */
function tended(
  made: SelfSigned,
  surroundings: CertificateContext,
  write: (identity: ServerIdentity) => Promise<void>,
  parts: Pick<Certificate, 'notes' | 'about' | 'file' | 'keep'>,
): Certificate {
  let present = made;
  return {
    identity: made.identity,
    ...parts,
    reload: nothingNew,
    async renew() {
      if (isFresh(present, surroundings.clock.now())) return undefined;
      const next = make(present.key, surroundings);
      await write(next.identity);
      present = next;
      const news = `the certificate was made anew, with the same key, and is valid until ${isoTime(next.until)}`;
      return { identity: next.identity, news };
    },
  };
}

function make(key: KeyObject, { clock, random }: CertificateContext): SelfSigned {
  // Since yesterday, for clients whose clock is behind.
  const from = Math.floor((clock.now() - day) / 1000) * 1000;
  const until = from + lifetime - 1000; // its first and its last second both belong to it
  const cert = makeCertificate({ subject, key, names, from, until, random });
  return { key, identity: { cert, key: pemOfKey(key) }, from, until };
}

function isFresh({ from, until }: SelfSigned, now: number): boolean {
  return now >= from && now <= until - margin;
}

function isOurs({ subject: about, issuer }: X509Certificate): boolean {
  return about === `CN=${subject}` && issuer === about;
}

async function writePem(directory: string, name: string, pem: string | Buffer): Promise<void> {
  // The directory is this process's own: whatever another left there, it has ended.
  await removeLeftovers(nodeDisk, directory, name, (pid) => pid !== process.pid);
  await replaceFile(nodeDisk, { directory, name, content: [String(pem)], sync: true });
}

async function nowhere(): Promise<void> {}

async function nothingNew(): Promise<undefined> {
  return undefined;
}
