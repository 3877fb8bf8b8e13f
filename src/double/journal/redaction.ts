import { findClosestMatch } from '../../did-you-mean.ts';
import { oauth1Paths, oauth2Paths } from '../../oauth/paths.ts';
import type { CredentialPlaces } from './credential-places.ts';

/** Replaces credentials in a text: known values, and the values of parameters and members that are named like one. */
export interface Redact {
  (text: string): string;
  /** Replaces known values only. */
  readonly values: (text: string) => string;
  /** The places where configured schemes have credentials. */
  readonly places: CredentialPlaces;
}

/** The text that replaces a credential. */
const redacted = '[redacted]';

/** Fields whose whole value is a credential. */
const secretFields: ReadonlySet<string> = new Set([
  'authorization',
  'authentication',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'api-key',
  'apikey',
  'auth-token',
  'access-token',
  'auth',
  'signature',
  'secret',
  'password',
  'token',
  'api-secret',
  'amz-security-token',
]);

/** The fields that clients misspell, with the same credentials. */
const misspelt = ['authorization', 'authentication', 'proxy-authorization'] as const;

/** Fields that never contain credentials: validators, dates, challenges (RFC 9110 §8.8, §11.6.1) and lengths. */
const publicFields: ReadonlySet<string> = new Set([
  'etag',
  'if-match',
  'if-none-match',
  'date',
  'x-date',
  'last-modified',
  'content-length',
  'www-authenticate',
  'proxy-authenticate',
  'authentication-info',
  'allow',
]);

/** Credentials with a scheme, which identify themselves in any field. */
const credentials = /^\s*(?:hmac\s+\S*:|basic\s+[A-Za-z0-9+/]+=*\s*$|bearer\s+\S+\s*$|oauth\s.*oauth_)/is;
/** The digest of HMAC credentials: 32 bytes in base64. Content-Digest has a colon after it (RFC 9530 §2). */
const signature = /:[A-Za-z0-9+/]{43}=(?![A-Za-z0-9+/=:])/g;

/** Names of parameters and members whose value is a credential or a signature. */
const certainNames =
  'password|secret|client_secret|client_assertion|access_token|refresh_token|id_token|code_verifier|consent_ticket|oauth_signature|oauth_token|oauth_token_secret|oauth_verifier|api_key|apikey|api-key|X-Amz-Signature|X-Amz-Security-Token';
/** The same in requests and responses of OAuth. In other content, data has these names too. */
const names = `${certainNames}|token|code`;

const isSecretName = new RegExp(`^(?:${names})$`, 'i');
const input = new RegExp(`(name="(?:${names})"[^>]{0,200}?\\bvalue=)"[^"]*"`, 'g');
const shownCode = new RegExp(`(<code id="(?:${names})">)[^<]*`, 'g');
/** A parameter in a base string of OAuth 1.0a, in which it is percent-encoded again (RFC 5849 §3.4.1.1). */
const encoded = new RegExp(`((?:%26|[^A-Za-z0-9_%])(?:${names})%3D)(?:(?!%26)[^&\\s"'<>])+`, 'g');
/** A field line. The name is limited, so that the search is linear in text from clients. */
const fieldLine = /^([!#-'*+\-.0-9A-Z^-z|~]{1,64}):[ \t]*([^\r\n]*)/gm;

const everywhere = createNamedRedaction(names);
const inData = createNamedRedaction(certainNames);

/**
 * Creates a redaction. A secret of fewer than 6 characters is replaced only where a credential stands, since data has such
 * words too. A longer one is replaced anywhere, or as a whole word if it consists of fewer than 12 letters.
 * @param secrets returns all secrets and passwords, former ones included: the same object until one is added
 * @param isToken returns whether a text of 43 characters was issued as a token, a code or a ticket
 * @param places where configured schemes have credentials
 */
export function createRedaction(
  secrets: () => Iterable<string>,
  isToken: (text: string) => boolean = () => false,
  places: CredentialPlaces = noPlaces,
): Redact {
  // A query can have thousands of parameters, so the forms are computed again only if the secrets have changed.
  let known: Iterable<string> | undefined;
  let forms: readonly string[] = [];
  const listCurrentForms = (): readonly string[] => {
    const current = secrets();
    if (current !== known) forms = [...current].filter(isSearched).flatMap(listForms);
    known = current;
    return forms;
  };
  const values = (text: string): string => {
    if (text.length < shortest) return text;
    return redactAll(text, listCurrentForms()).replace(tokenRun, (run) => redactTokens(run, isToken));
  };
  const redact = (text: string): string =>
    values(everywhere(text).replace(encoded, `$1${redacted}`).replace(input, `$1"${redacted}"`)).replace(
      shownCode,
      `$1${redacted}`,
    );
  return Object.assign(redact, { values, places });
}

/**
 * Extends a redaction to the session token of AWS in a request, which explanations of a canonical request contain.
 * @param raw names and values of the fields, alternating
 */
export function redactSessionToken(redact: Redact, raw: readonly string[]): Redact {
  const isToken = (name: string): boolean =>
    name.length === sessionToken.length && name.toLowerCase() === sessionToken;
  const at = raw.findIndex((name, index) => index % 2 === 0 && isToken(name));
  const token = raw[at + 1] ?? '';
  if (at < 0 || !isSearched(token)) return redact;
  const forms = listForms(token);
  const hide = (text: string): string => redactAll(text, forms);
  return Object.assign((text: string) => hide(redact(text)), {
    values: (text: string) => hide(redact.values(text)),
    places: redact.places,
  });
}

const sessionToken = 'x-amz-security-token';

const noPlaces: CredentialPlaces = { fields: new Set(), parameters: new Set() };

/** Redacts the value of a field. */
export function redactField(name: string, value: string, redact: Redact): string {
  const lower = name.toLowerCase();
  if (publicFields.has(lower)) return value;
  if (
    redact.places.fields.has(lower) ||
    secretFields.has(lower.replace(/^x-/, '')) ||
    credentials.test(value)
  )
    return redacted;
  if (findClosestMatch(lower.replace(/^x-/, ''), misspelt) !== undefined) return redacted;
  return redact(value).replace(signature, `:${redacted}`);
}

/** Redacts a request target. Segments and parameters that contain an encoded credential are replaced as a whole. */
export function redactTarget(target: string, redact: Redact): string {
  const queryAt = target.indexOf('?');
  const path = queryAt < 0 ? target : target.slice(0, queryAt);
  const shown = redact
    .values(path)
    .split('/')
    .map((segment) => redactEncoded(segment, redact));
  if (queryAt < 0) return shown.join('/');
  const query = target
    .slice(queryAt + 1)
    .split('&')
    .map((parameter) => redactParameter(parameter, redact));
  return `${shown.join('/')}?${query.join('&')}`;
}

/** Redacts a parameter that was decoded, or one as it was sent. */
export function redactValue(name: string, value: string, redact: Redact): string {
  const isSecret = isSecretName.test(name) || redact.places.parameters.has(name);
  return isSecret ? redacted : redactEncoded(redact.values(value), redact);
}

/** Redacts the value of a part of a signed message. */
export function redactPart(name: string, value: string, redact: Redact): string {
  return isSecretName.test(name) ? redacted : redact(value);
}

/** Redacts content. Outside of OAuth, members named `code` or `token` are data. */
export function redactContent(text: string, path: string, redact: Redact): string {
  return oauthPaths.has(path) ? redact(text) : redact.values(inData(text));
}

/** Redacts a request that could not be parsed: field lines as fields, all else as text. */
export function redactReceived(text: string, redact: Redact): string {
  const lines = text.replace(fieldLine, (_, name: string, value: string) => {
    return `${name}: ${redactField(name, value, redact)}`;
  });
  return redact(lines);
}

const oauthPaths: ReadonlySet<string> = new Set([
  ...Object.values(oauth1Paths),
  ...Object.values(oauth2Paths),
]);

/** Returns a function that redacts the values of parameters, members of JSON and elements of XML with these names. */
function createNamedRedaction(known: string): (text: string) => string {
  const parameter = new RegExp(`(?<![A-Za-z0-9_])(${known})=[^&\\s"'<>]+`, 'g');
  const member = new RegExp(`("(?:${known})"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, 'g');
  const element = new RegExp(`(<(${known})>)[^<]*`, 'g');
  return (text) =>
    text
      .replace(parameter, `$1=${redacted}`)
      .replace(member, `$1"${redacted}"`)
      .replace(element, `$1${redacted}`);
}

function redactParameter(parameter: string, redact: Redact): string {
  const at = parameter.indexOf('=');
  if (at < 0) return redactEncoded(redact.values(parameter), redact);
  const [name, value] = [parameter.slice(0, at), parameter.slice(at + 1)];
  return `${redactEncoded(redact.values(name), redact)}=${redactValue(decodeParameter(name), value, redact)}`;
}

/** Replaces the whole text if a credential appears when it is percent-decoded. */
function redactEncoded(text: string, redact: Redact): string {
  if (!/[%+]/.test(text)) return text;
  const plain = decodeParameter(text);
  return redact.values(plain) === plain ? text : redacted;
}

/** Decodes a parameter as a form does. Returns a text that is not valid UTF-8 unchanged. */
function decodeParameter(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** Returns a secret as text, in JSON, in XML, and percent-encoded as in a target, a form or a base string. */
function listForms(secret: string): readonly string[] {
  const [encodedOnce, xml] = [encodeURIComponent(Buffer.from(secret).toString()), escapeXml(secret)];
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    xml,
    encodedOnce,
    encodeURIComponent(encodedOnce),
  ];
  return [...new Set(forms)];
}

function escapeXml(secret: string): string {
  return secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Shorter secrets are not searched for. */
const shortest = 6;
/** Secrets that are replaced as whole words only, since they occur within other words. */
const word = /^[A-Za-z]{1,11}$/;

function isSearched(secret: string): boolean {
  return secret.length >= shortest;
}

function redactAll(text: string, secrets: readonly string[]): string {
  return secrets.reduce(redactSecret, text);
}

function redactSecret(text: string, secret: string): string {
  if (!text.includes(secret)) return text;
  if (!word.test(secret)) return text.replaceAll(secret, redacted);
  return text.replace(new RegExp(`(?<![A-Za-z0-9])${secret}(?![A-Za-z0-9])`, 'g'), redacted);
}

/** The length of a token: 32 bytes in base64url. */
const tokenLength = 43;
/** Characters among which tokens can be. */
const tokenRun = new RegExp(`[A-Za-z0-9_-]{${tokenLength},}`, 'g');

function redactTokens(run: string, isToken: (text: string) => boolean): string {
  let result = '';
  let from = 0;
  for (let at = 0; at + tokenLength <= run.length; at += 1) {
    if (!isToken(run.slice(at, at + tokenLength))) continue;
    result += run.slice(from, at) + redacted;
    from = at + tokenLength;
    at = from - 1;
  }
  return result + run.slice(from);
}
