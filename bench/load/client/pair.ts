import { randomBytes } from 'node:crypto';
import { makeCertificate, makeKey, pemOfKey } from '../../../src/net/tls/certificate.ts';

/** Generates a self-signed certificate, valid for a day, and its key. */
export function makePair(): { readonly cert: string; readonly key: string } {
  const made = makeKey();
  const validity = { from: Date.now() - 86_400_000, until: Date.now() + 86_400_000 };
  const cert = makeCertificate({
    subject: 'bench',
    key: made,
    names: ['localhost', '127.0.0.1'],
    random: randomBytes,
    ...validity,
  });
  return { cert, key: pemOfKey(made) };
}
