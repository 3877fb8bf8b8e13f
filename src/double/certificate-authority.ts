import { makeCertificate, makeKey, pemOfKey } from '../net/tls/certificate.ts';
import type { ServerIdentity } from '../net/tls/identity.ts';

const day = 86_400_000;
/** How long a certificate is valid: no longer than clients take one of a public authority. */
const lifetime = 397 * day;
/** How long before now a certificate begins to be valid, for clients whose clocks are behind. */
const before = 2 * day;

const names = ['localhost', '127.0.0.1', '::1'];

/** From the first to the last moment of a certificate, in ms since 1970-01-01T00:00:00Z. */
export interface Validity {
  readonly from: number;
  readonly until: number;
}

/** A certificate authority for servers on this host. Its key is in memory alone. */
export interface CertificateAuthority {
  /** Its own certificate in PEM, for clients to trust. */
  readonly certificate: string;
  /** What a server on localhost proves itself with. */
  readonly identity: ServerIdentity;
  /** The same with another certificate, for this time. */
  issue(validity: Validity): ServerIdentity;
}

/**
 * Makes an authority. Its keys and certificates are made when they are asked for: most tests are done without. `now` is
 * the host's time (ms), which clients go by.
 */
export function createCertificateAuthority(
  now: number,
  random: (size: number) => Uint8Array,
): CertificateAuthority {
  const name = `Countersign test authority ${Buffer.from(random(4)).toString('hex')}`;
  const usual: Validity = { from: now - before, until: now + lifetime };
  const issuer = once(() => ({ name, key: makeKey() }));
  const serverKey = once(makeKey);
  const certificate = once(() =>
    makeCertificate({ subject: name, key: issuer().key, names: 'authority', ...usual, random }),
  );
  const issue = (validity: Validity): ServerIdentity => {
    const key = serverKey();
    const subject = 'Countersign double';
    const cert = makeCertificate({ subject, key, issuer: issuer(), names, ...validity, random });
    return { cert, key: pemOfKey(key) };
  };
  const identity = once(() => issue(usual));
  return {
    get certificate() {
      return certificate();
    },
    get identity() {
      return identity();
    },
    issue,
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
