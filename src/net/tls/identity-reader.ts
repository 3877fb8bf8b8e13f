import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { TlsError, type TlsIdentity, usable } from './identity.ts';

/** Reads the first certificate of a PEM file. Throws TlsError if there is none. */
function readCertificate(cert: string | Buffer): X509Certificate {
  // The constructor also accepts DER, which the server cannot use.
  if (!cert.toString('latin1').includes('-----BEGIN CERTIFICATE-----'))
    throw new TlsError('certificate', 'there is no certificate in PEM');
  try {
    return new X509Certificate(cert);
  } catch (cause) {
    throw new TlsError('certificate', 'the certificate cannot be read', cause);
  }
}

/** Reads the private key of a PEM file. Throws TlsError if there is none that can be used. */
export function readKey(key: string | Buffer): KeyObject {
  try {
    return createPrivateKey(key);
  } catch {
    // PKCS #8 (RFC 7468 §11), and the older form (RFC 1421 §4.6.1.1).
    const encrypted = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(
      key.toString('latin1'),
    );
    const message = encrypted
      ? 'the private key is protected by a passphrase; provide it without one'
      : 'there is no private key in PEM that can be read';
    // Without the cause, whose message might quote the key.
    throw new TlsError('key', message);
  }
}

/** Reads the server's certificate and its key, and checks that they match. Throws TlsError. */
export function readIdentity({ cert, key }: TlsIdentity): {
  readonly certificate: X509Certificate;
  readonly privateKey: KeyObject;
} {
  const certificate = readCertificate(cert);
  const privateKey = readKey(key);
  if (!certificate.checkPrivateKey(privateKey))
    throw new TlsError('mismatch', 'the private key is not that of the first certificate');
  return { certificate, privateKey };
}

/** Checks that TLS accepts an identity; a key may be too weak, for example. Throws TlsError. */
export function tryIdentity({ cert, key }: TlsIdentity): void {
  usable(() => createSecureContext({ cert, key, ca: [] }));
}

/** Returns the validity period of a certificate, in milliseconds since 1970-01-01T00:00:00Z. */
export function readValidity(certificate: X509Certificate): {
  readonly from: number;
  readonly until: number;
} {
  return { from: Date.parse(certificate.validFrom), until: Date.parse(certificate.validTo) };
}
