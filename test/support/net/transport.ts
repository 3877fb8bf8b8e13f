import { randomBytes } from 'node:crypto';
import { makeCertificate, makeKey, pemOfKey } from '../../../src/net/tls/certificate.ts';
import type { TlsIdentity } from '../../../src/net/tls/identity.ts';

/** What is under HTTP in the tests of a file: TLS with this identity, or nothing. */
interface Transport {
  tls: TlsIdentity | undefined;
}

/** The connections and listeners of a test file go by this. */
export const transport: Transport = { tls: undefined };

/** An identity for localhost and 127.0.0.1 that is valid today; its certificate is its own authority. */
export function makeIdentity(subject = 'A test'): { cert: string; key: string } {
  const key = makeKey();
  const [from, until] = [Date.now() - 60_000, Date.now() + 3_600_000];
  const names = ['localhost', '127.0.0.1', '::1'];
  return {
    cert: makeCertificate({ subject, key, names, from, until, random: randomBytes }),
    key: pemOfKey(key),
  };
}
