// The credentials of AWS Signature Version 4, in Authorization or in the query. Each character sent is one octet.

import { splitPairs } from '../../http/form.ts';
import { decodeName } from '../../http/syntax/octets.ts';
import { findQuery } from '../../http/target.ts';
import { describeMalformed, digestForm } from '../signature-form.ts';
import { aws4Algorithm, decodeParameter } from './canonical-request.ts';
import { type Scope, scopeEnd } from './signing-key.ts';

/** Credentials in either place. */
export interface Aws4Credentials {
  readonly accessKeyId: string;
  readonly scope: Scope;
  /** The names in lower case, sorted. */
  readonly signedHeaders: readonly string[];
  /** 64 hexadecimal digits in lower case. */
  readonly signature: string;
  /** What a presigned URL has besides; undefined in a field. */
  readonly presigned?: PresignedParts;
}

/** What only a presigned URL has. */
interface PresignedParts {
  /** `20150830T123600Z` */
  readonly stamp: string;
  /** The lifetime in seconds. */
  readonly expires: number | undefined;
  /** The value of X-Amz-Content-Sha256, if it is in the query. */
  readonly payloadHash: string | undefined;
}

/** The parameter of a query that shows that the URL is presigned. */
export const signatureParameter = 'X-Amz-Signature';

/** The maximum lifetime (s) of a presigned URL: a week. */
export const maxExpires = 604_800;

/** The form in which all clients write the field, for the usual characters of its parts. */
const usualField =
  /^Credential=([\w+=.@-]{1,128})\/(\d{8})\/([\w-]+)\/([\w-]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;

/**
 * Parses the credentials of a request. Returns an error message if they are malformed.
 *
 * @param rest Authorization after `AWS4-HMAC-SHA256`; '' if the URL is presigned.
 */
export function parseCredentials(rest: string, target: string, service: string): Aws4Credentials | string {
  return rest === '' ? parsePresigned(findQuery(target), service) : parseCredentialsField(rest);
}

/** Parses the credentials after `AWS4-HMAC-SHA256`. Returns an error message if they are malformed. */
export function parseCredentialsField(rest: string): Aws4Credentials | string {
  const usual = usualField.exec(rest);
  if (usual === null) return parseUnusualField(rest);
  const [, accessKeyId = '', date = '', region = '', service = '', names = '', signature = ''] = usual;
  const signedHeaders = readSignedHeaders(names);
  if (typeof signedHeaders === 'string') return signedHeaders;
  return { accessKeyId, scope: { date, region, service }, signedHeaders, signature };
}

function parseUnusualField(rest: string): Aws4Credentials | string {
  const found = new Map<string, string>();
  for (const part of rest.split(',')) {
    const parameter = part.trim();
    const equals = parameter.indexOf('=');
    const name = parameter.slice(0, Math.max(equals, 0));
    if (!fieldParameters.has(name))
      return `Credential, SignedHeaders and Signature are expected${describeSeen(name)}`;
    if (found.has(name)) return `${name} is given twice`;
    found.set(name, parameter.slice(equals + 1));
  }
  for (const name of fieldParameters)
    if (!found.has(name)) return `${name} is missing${describeSeparator(found)}`;
  return readCredentials(found.get('Credential'), found.get('SignedHeaders'), found.get('Signature'));
}

const fieldParameters: ReadonlySet<string> = new Set(['Credential', 'SignedHeaders', 'Signature']);

/** Describes parameters that are separated by something else than a comma, so that the others belong to the value of the first. */
function describeSeparator(found: ReadonlyMap<string, string>): string {
  for (const value of found.values()) {
    const at = value.search(/[;\s](?:SignedHeaders|Signature)=/);
    if (at < 0) continue;
    const before = value.slice(0, at + 1).trimEnd();
    const separator = before.endsWith(';') ? 'semicolons' : 'spaces';
    return `; the parameters are separated by ${separator}, and a comma is expected`;
  }
  return '';
}

function describeSeen(name: string): string {
  const meant = [...fieldParameters].find((known) => known.toLowerCase() === name.toLowerCase());
  if (meant !== undefined) return `: ${meant} must be written in this case`;
  return ', separated by commas; the names in SignedHeaders are separated by semicolons';
}

const expiresParameter = 'X-Amz-Expires';
const queryParameters: readonly string[] = [
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Date',
  expiresParameter,
  'X-Amz-SignedHeaders',
  signatureParameter,
  'X-Amz-Security-Token',
  'X-Amz-Content-Sha256',
];
const optionalParameters: ReadonlySet<string> = new Set(['X-Amz-Security-Token', 'X-Amz-Content-Sha256']);

/**
 * Parses the credentials in the query of a presigned URL. Returns an error message if they are malformed.
 *
 * @param service The service of the server. Only Amazon S3 requires X-Amz-Expires: for others, clients leave it out, and the window
 *   of the date applies.
 */
export function parsePresigned(query: string, service: string): Aws4Credentials | string {
  const found = new Map<string, string>();
  for (const [sent, value] of splitPairs(query)) {
    const name = decodeParameter(sent);
    if (!queryParameters.includes(name)) continue;
    if (found.has(name)) return `${name} is given twice`;
    found.set(name, decodeParameter(value));
  }
  for (const name of queryParameters)
    if (!found.has(name) && !optionalParameters.has(name) && (name !== expiresParameter || service === 's3'))
      return `${name} is missing`;
  if (found.get('X-Amz-Algorithm') !== aws4Algorithm) return `X-Amz-Algorithm must be ${aws4Algorithm}`;
  const expires = found.get(expiresParameter);
  if (expires !== undefined && (!/^[1-9]\d{0,5}$/.test(expires) || Number(expires) > maxExpires))
    return `${expiresParameter} must be a number of seconds from 1 to ${maxExpires}`;
  const credentials = readCredentials(
    found.get('X-Amz-Credential'),
    found.get('X-Amz-SignedHeaders'),
    found.get(signatureParameter),
  );
  if (typeof credentials === 'string') return credentials;
  const stamp = found.get('X-Amz-Date') ?? '';
  const payloadHash = found.get('X-Amz-Content-Sha256');
  return {
    ...credentials,
    presigned: { stamp, expires: expires === undefined ? undefined : Number(expires), payloadHash },
  };
}

function readCredentials(credential = '', signedHeaders = '', signature = ''): Aws4Credentials | string {
  const scoped = readCredential(credential);
  if (typeof scoped === 'string') return scoped;
  const names = readSignedHeaders(signedHeaders);
  if (typeof names === 'string') return names;
  if (!/^[0-9a-f]{64}$/.test(signature)) return signatureFault(signature);
  return { ...scoped, signedHeaders: names, signature };
}

/** `id/20150830/us-east-1/service/aws4_request`; the id may contain slashes. */
const credentialForm = /^(.+)\/(\d{8})\/([^/]+)\/([^/]+)\/([^/]*)$/s;

function readCredential(text: string): Pick<Aws4Credentials, 'accessKeyId' | 'scope'> | string {
  const [, id = '', date = '', region = '', service = '', end] = credentialForm.exec(text) ?? [];
  if (end === undefined)
    return `Credential must be an access key id, a date as YYYYMMDD, a region, a service and ${scopeEnd}, separated by slashes${/%2F/i.test(text) ? ': it is percent-encoded twice' : ''}`;
  if (end !== scopeEnd)
    return `Credential must end with ${scopeEnd}${text.startsWith('"') ? '; it is in quotes' : ''}`;
  const accessKeyId = decodeName(id);
  if (accessKeyId === undefined)
    return 'the access key id is not 1 to 128 bytes of UTF-8 without control characters';
  return { accessKeyId, scope: { date, region, service } };
}

const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** The maximum number of signed headers. Each is looked up among all headers of a request that is not authenticated yet. */
const maxSignedHeaders = 100;

function readSignedHeaders(text: string): string[] | string {
  const names = text.split(';', maxSignedHeaders + 1);
  if (names.length > maxSignedHeaders) return `SignedHeaders has more than ${maxSignedHeaders} names`;
  let last = '';
  for (const name of names) {
    if (!headerName.test(name)) {
      if (headerName.test(name.toLowerCase())) return 'SignedHeaders must be in lower case';
      return 'SignedHeaders must be names of header fields, separated by semicolons';
    }
    if (name <= last)
      return name === last ? `SignedHeaders names ${name} twice` : 'SignedHeaders must be sorted';
    last = name;
  }
  return names.includes('host') ? names : 'SignedHeaders must contain host';
}

/** Returns the error message for a malformed signature, with a likely cause if its form suggests one. */
function signatureFault(text: string): string {
  const cause = describeMalformed(text, digestForm('sha256', 'hex'));
  const fault = 'the signature is not 64 hexadecimal digits in lower case';
  return cause === undefined ? fault : `${fault}: ${cause}`;
}
