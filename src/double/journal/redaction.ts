import { findClosestMatch } from '../../did-you-mean.ts';
import { decodeText } from '../../http/syntax/percent.ts';
import { findQuery } from '../../http/target.ts';
import { oauth1Paths, oauth2Paths } from '../../oauth/paths.ts';
import type { CredentialPlace } from '../../schemes/auth-scheme.ts';
import { listRelatedFields } from '../../schemes/explain/related-names.ts';
import { createMask, type Mask, redacted } from '../../schemes/secret-search/secret-search.ts';

/** Replaces credentials in a text: known values, and the values of parameters and members that are named like one. */
export interface Redact {
  (text: string): string;
  /** Replaces known values only. */
  readonly values: Mask;
  /** Replaces a text that equals a known value of any length, or contains one. For places where a credential can stand. */
  readonly credential: Mask;
  /** The names with which configured schemes send secrets or signatures. */
  readonly names: SecretNames;
}

/** Names of places with secrets or signatures. */
interface SecretNames {
  /** Names of fields in lower case. */
  readonly fields: ReadonlySet<string>;
  /** Names of parameters of the query. */
  readonly parameters: ReadonlySet<string>;
}

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

/** Fields with entity tags (RFC 9110 §8.8.3), which parts of the server's own tags resemble secrets by chance. */
const tagFields: ReadonlySet<string> = new Set(['etag', 'if-match', 'if-none-match', 'if-range']);
/** An entity tag in the form of the server's own. */
const ownTag = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+){2,}$/;

/** Fields that never contain credentials but by mistake: dates, challenges (RFC 9110 §8.8, §11.6.1) and lengths. */
const publicFields: ReadonlySet<string> = new Set([
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
  'password|secret|client_secret|client_assertion|access_token|refresh_token|id_token|id_token_hint|code_verifier|consent_ticket|oauth_signature|oauth_token|oauth_token_secret|oauth_verifier|api_key|apikey|api-key|X-Amz-Signature|X-Amz-Security-Token';
/** The same in requests and responses of OAuth. In other content, data has these names too. */
const names = `${certainNames}|token|code`;

const isSecretName = new RegExp(`^(?:${names})$`, 'i');
const input = new RegExp(`(name="(?:${names})"[^>]{0,200}?\\bvalue=)"[^"]*"`, 'g');
const shownCode = new RegExp(`(<code id="(?:${names})">)[^<]*`, 'g');
/**
 * A parameter in a base string of OAuth 1.0a, in which it is percent-encoded again (RFC 5849 §3.4.1.1), also if the query was
 * escaped for HTML.
 */
const encoded = new RegExp(
  `((?:%(?:25){0,3}(?:26|3B)|[^A-Za-z0-9_%])(?:${names})%(?:25){0,3}3D)(?:(?!%(?:25){0,3}26)[^&\\s"'<>])+`,
  'gi',
);
/** A field line. The name is limited, so that the search is linear in text from clients. */
const fieldLine = /^([!#-'*+\-.0-9A-Z^-z|~]{1,64}):[ \t]*([^\r\n]*)/gm;

const everywhere = createNamedRedaction(names);
const inData = createNamedRedaction(certainNames);

/**
 * Creates a redaction. A secret of fewer than 6 characters is replaced only where a credential stands, since data has such
 * words too. A longer one is replaced anywhere and in any encoding, or as a whole word if it consists of fewer than 12 letters.
 * @param secrets returns all secrets and passwords, former ones included: the same object until one is added
 * @param isToken returns whether a text of 43 characters was issued as a token, a code or a ticket
 * @param places where configured schemes have credentials; default: they have none
 */
export function createRedaction(
  secrets: () => Iterable<string>,
  isToken: (text: string) => boolean = () => false,
  places: readonly CredentialPlace[] = [],
): Redact {
  const isSecret = (text: string): boolean => {
    for (const secret of secrets()) if (secret.toLowerCase() === text.toLowerCase()) return text !== '';
    return false;
  };
  return buildRedaction(createMask(secrets, isToken), isSecret, listSecretNames(places));
}

/** The parts of credentials that are secrets or signatures. */
const secretRoles: readonly string[] = ['', 'secret', 'passphrase'];

/** Returns the names of the places with secrets or signatures. Authorization and Cookie contain credentials anyway. */
function listSecretNames(places: readonly CredentialPlace[]): SecretNames {
  const secret = places.filter(({ role }) => secretRoles.includes(role));
  const fields = secret.flatMap(({ in: kind, name }) => (kind === 'header' ? [name.toLowerCase()] : []));
  const parameters = secret.flatMap(({ in: kind, name }) => (kind === 'query' ? [name] : []));
  // A signature in a misnamed field is one nevertheless.
  const related = fields.flatMap((name) => [...listRelatedFields(name)]);
  return { fields: new Set([...fields, ...related]), parameters: new Set(parameters) };
}

/** A JWT (RFC 7519 §3). Header and claims are shown; without its signature it is worth nothing. */
const jwt = /(?<![\w-])(eyJ[\w-]+\.[\w-]+\.)[\w-]+/g;

function withoutSignature(text: string): string {
  return text.includes('eyJ') ? text.replace(jwt, `$1${redacted}`) : text;
}

function buildRedaction(mask: Mask, isSecret: (text: string) => boolean, secretNames: SecretNames): Redact {
  const values = (text: string): string => mask(withoutSignature(text));
  const redact = (text: string): string =>
    values(everywhere(text).replace(encoded, `$1${redacted}`).replace(input, `$1"${redacted}"`)).replace(
      shownCode,
      `$1${redacted}`,
    );
  const credential = (text: string): string => (isSecret(text) || values(text) !== text ? redacted : text);
  return Object.assign(redact, { values, credential, names: secretNames });
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
  if (at < 0 || token === '') return redact;
  const tokens = [token];
  const hide = createMask(() => tokens);
  return Object.assign((text: string) => hide(redact(text)), {
    values: (text: string) => hide(redact.values(text)),
    credential: redact.credential,
    names: redact.names,
  });
}

const sessionToken = 'x-amz-security-token';

/** Redacts the value of a field. */
export function redactField(name: string, value: string, redact: Redact): string {
  const lower = name.toLowerCase();
  if (tagFields.has(lower)) return redactTags(value, redact);
  if (publicFields.has(lower)) return redact.values(value);
  if (redact.names.fields.has(lower) || secretFields.has(lower.replace(/^x-/, '')) || credentials.test(value))
    return redacted;
  if (findClosestMatch(lower.replace(/^x-/, ''), misspelt) !== undefined) return redacted;
  return redact(value).replace(signature, `:${redacted}`);
}

/** Redacts entity tags. Those that the server can have sent are shown, unless one is a secret as a whole. */
function redactTags(value: string, redact: Redact): string {
  const tags = [...value.matchAll(/"([^"]*)"/g)].map(([, tag = '']) => tag);
  const isShown = tags.length > 0 && tags.every((tag) => ownTag.test(tag) && redact.values(tag) !== redacted);
  return isShown ? value : redact.values(value);
}

/** Redacts a request target. */
export function redactTarget(target: string, redact: Redact): string {
  const sent = findQuery(target);
  const query = sent.split('&').map((parameter) => redactParameter(parameter, redact));
  return redact.values(target.slice(0, target.length - sent.length) + query.join('&'));
}

/** Redacts a parameter that was decoded, or one as it was sent. */
function redactValue(name: string, value: string, redact: Redact): string {
  // The separator of a query that was escaped for HTML, once or more often.
  const bare = name.replace(/^(?:amp;|#38;|#x26;)+/i, '');
  const isSecret = isSecretName.test(bare) || redact.names.parameters.has(bare);
  return isSecret ? redacted : redact.values(value);
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
  const parameter = new RegExp(
    `((?:(?<![A-Za-z0-9_])|(?<=\\\\u0026))(?:${known})(?:=|\\\\u003d|&#61;|&#x3d;))(?:(?!\\\\u0026)[^&\\s"'<>])+`,
    'gi',
  );
  const member = new RegExp(`("(?:${known})"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, 'gi');
  const element = new RegExp(`(<(${known})>)[^<]*`, 'gi');
  return (text) =>
    text
      .replace(parameter, `$1${redacted}`)
      .replace(member, `$1"${redacted}"`)
      .replace(element, `$1${redacted}`);
}

function redactParameter(parameter: string, redact: Redact): string {
  const at = parameter.indexOf('=');
  if (at < 0) return parameter;
  const [name, value] = [parameter.slice(0, at), parameter.slice(at + 1)];
  const shown = redactValue(decodeText(name.replaceAll('+', ' ')) ?? name, value, redact);
  return `${name}=${shown}`;
}
