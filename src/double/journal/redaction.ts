/** Replaces secrets in a text. */
export type Redact = (text: string) => string;

/** The text that replaces a secret. */
const redacted = '[redacted]';

/** Fields whose whole value is a credential. */
const secretFields: ReadonlySet<string> = new Set([
  'authorization',
  'authentication',
  'proxy-authorization',
  'cookie',
  'set-cookie',
]);

/** Names of parameters and members whose value is a credential or a signature. */
const names =
  'password|secret|client_secret|client_assertion|access_token|refresh_token|token|code|code_verifier|consent_ticket|oauth_signature|oauth_token|oauth_token_secret|oauth_verifier';

const parameter = new RegExp(`(?<![A-Za-z0-9_])(${names})=[^&\\s"'<>]+`, 'g');
/** The same in a base string of OAuth 1.0a, in which parameters are percent-encoded again (RFC 5849 §3.4.1.1). */
const encoded = new RegExp(`((?:%26|[^A-Za-z0-9_%])(?:${names})%3D)(?:(?!%26)[^&\\s"'<>])+`, 'g');
const member = new RegExp(`("(?:${names})"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, 'g');
const element = new RegExp(`(<(${names})>)[^<]*`, 'g');
/** In the server's own pages, the value directly follows the name. The limit makes the search linear in text from clients. */
const input = new RegExp(`(name="(?:${names})"[^>]{0,200}?\\bvalue=)"[^"]*"`, 'g');
const fieldLine = new RegExp(`^(${[...secretFields].join('|')}):[^\\r\\n]*`, 'gim');

/** Creates a redaction. Short `secrets` are replaced as whole words only, others anywhere. */
export function createRedaction(secrets: () => Iterable<string>): Redact {
  return (text) => {
    let result = text
      .replace(fieldLine, `$1: ${redacted}`)
      .replace(parameter, `$1=${redacted}`)
      .replace(encoded, `$1${redacted}`)
      .replace(member, `$1"${redacted}"`)
      .replace(element, `$1${redacted}`)
      .replace(input, `$1"${redacted}"`);
    for (const secret of secrets()) result = without(without(result, secret), percentEncoded(secret));
    return result;
  };
}

/** Redacts the value of a field. */
export function redactField(name: string, value: string, redact: Redact): string {
  return secretFields.has(name.toLowerCase()) ? redacted : redact(value);
}

/** Percent-encodes a secret as in a target or a form. */
function percentEncoded(secret: string): string {
  return encodeURIComponent(Buffer.from(secret).toString());
}

/** Shorter secrets are replaced as whole words only, since they occur within other words. */
const short = 6;

function without(text: string, secret: string): string {
  if (secret === '' || !text.includes(secret)) return text;
  if (secret.length >= short) return text.replaceAll(secret, redacted);
  const literal = secret.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return text.replace(new RegExp(`(?<![A-Za-z0-9])${literal}(?![A-Za-z0-9])`, 'g'), redacted);
}
