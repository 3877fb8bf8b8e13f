import { makeCertificate, makeKey, pemOfKey } from '../net/tls/certificate.ts';
import type { TlsIdentity } from '../net/tls/identity.ts';
import { once } from '../once.ts';

const day = 86_400_000;
/** The validity of a certificate in ms. Some clients reject longer ones from public authorities (398 days). */
const lifetime = 397 * day;
/** How many ms before the present a certificate becomes valid, for clients whose clocks are slow. */
const backdating = 2 * day;

const names = ['localhost', '127.0.0.1', '::1'];

/** The first and the last moment of a certificate's validity, in ms since 1970-01-01T00:00:00Z. */
interface Validity {
  readonly from: number;
  readonly until: number;
}

/** A certificate authority for servers on this host. Its key is held in memory only. */
export type CertificateAuthority = ReturnType<typeof createCertificateAuthority>;

/**
 * Creates an authority. Keys and certificates are generated on first use, since most tests do not need them.
 * @param now the host's time in ms, by which clients check certificates
 */
export function createCertificateAuthority(now: number, random: (size: number) => Uint8Array) {
  const usual: Validity = { from: now - backdating, until: now + lifetime };
  const issuer = once(() => ({
    name: `Countersign test authority ${Buffer.from(random(4)).toString('hex')}`,
    key: makeKey(),
  }));
  const serverKey = once(() => makeKey());
  const certificate = once(() => {
    const { name: subject, key } = issuer();
    return makeCertificate({ subject, key, names: 'authority', ...usual, random });
  });
  /** Issues another certificate for the same key, with this validity. */
  const issue = (validity: Validity): TlsIdentity => {
    const key = serverKey();
    const subject = 'Countersign double';
    const cert = makeCertificate({ subject, key, issuer: issuer(), names, ...validity, random });
    return { cert, key: pemOfKey(key) };
  };
  const identity = once(() => issue(usual));
  return {
    /** The authority's own certificate in PEM, for clients to trust. */
    get certificate(): string {
      return certificate();
    },
    /** The certificate and key of a server on localhost. */
    get identity(): TlsIdentity {
      return identity();
    },
    issue,
  };
}
