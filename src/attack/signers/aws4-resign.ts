import { createHmac } from 'node:crypto';
import {
  canonicalPath,
  canonicalQuery,
  canonicalText,
  canonicalValue,
  emptyHash,
  hashContent,
  splitTarget,
  stringToSign,
} from '../../signature/aws4/canonical-request.ts';
import { signatureParameter } from '../../signature/aws4/credentials.ts';
import { pathRulesOf } from '../../signature/aws4/sign.ts';
import { deriveKey } from '../../signature/aws4/signing-key.ts';
import { lineOf, type OutgoingRequest, replacing } from '../attempt.ts';
import type { Aws4SignerOptions } from './schemes.ts';
import { bytesOf, parameterOf, splitUrl, withParameter } from './target.ts';

/** The parts of a signature that the signers of AWS do not change separately. */
export interface Aws4Parts {
  /** `20150830/us-east-1/service/aws4_request`, as named. */
  readonly scope: string;
  /** The scope whose key is used. Default: the named one. */
  readonly keyScope?: string;
  readonly signedHeaders: readonly string[];
}

/** Signs a request again whose Authorization has a valid signature, with other parts. */
export function resignFields(
  request: OutgoingRequest,
  options: Aws4SignerOptions,
  change: (parts: Aws4Parts) => Aws4Parts,
): OutgoingRequest | undefined {
  const [field, value] = lineOf(request.headers, 'Authorization') ?? ['', ''];
  const [, begin = '', scope, names] =
    /^(\S+ Credential=[^/]*)\/([^,]*), SignedHeaders=([^,]*),/.exec(value) ?? [];
  if (scope === undefined || names === undefined) return undefined;
  const parts = change({ scope, signedHeaders: names.split(';') });
  const query = canonicalQuery(splitTarget(splitUrl(request.url).target).query);
  const hash = fieldOf(request, 'X-Amz-Content-Sha256');
  const signature = signatureOf(request, options, parts, query, hash, fieldOf(request, 'X-Amz-Date'));
  const credentials = `${begin}/${parts.scope}, SignedHeaders=${parts.signedHeaders.join(';')}`;
  return replacing(request, [field, `${credentials}, Signature=${signature}`]);
}

/** Signs a presigned URL again, after parameters other than the signature were changed. */
export function resignQuery(request: OutgoingRequest, options: Aws4SignerOptions): OutgoingRequest {
  const parameter = (name: string): string => decodeURIComponent(parameterOf(request.url, name) ?? '');
  const { query } = splitTarget(splitUrl(request.url).target);
  const canonical = canonicalQuery(query, signatureParameter);
  const credential = parameter('X-Amz-Credential');
  const parts = {
    scope: credential.slice(credential.indexOf('/') + 1),
    signedHeaders: parameter('X-Amz-SignedHeaders').split(';'),
  };
  const hash = payloadHashOf(request, options, parameter('X-Amz-Content-Sha256'));
  const signature = signatureOf(request, options, parts, canonical, hash, parameter('X-Amz-Date'));
  return { ...request, url: withParameter(request.url, signatureParameter, signature) };
}

function payloadHashOf(request: OutgoingRequest, { service }: Aws4SignerOptions, sent: string): string {
  if (sent !== '') return sent;
  if (service === 's3') return 'UNSIGNED-PAYLOAD';
  const content = bytesOf(request);
  return content === undefined ? emptyHash : hashContent(content);
}

function signatureOf(
  request: OutgoingRequest,
  options: Aws4SignerOptions,
  { scope, keyScope = scope, signedHeaders }: Aws4Parts,
  query: string,
  payloadHash: string,
  stamp: string,
): string {
  const rules = { ...pathRulesOf(options.service), ...definedRules(options) };
  const { path } = splitTarget(splitUrl(request.url).target);
  const headers = signedHeaders.map((name) => [name, canonicalValue(fieldOf(request, name))] as const);
  const canonical = { method: request.method, path: canonicalPath(path, rules), query, headers, payloadHash };
  const [date = '', region = '', service = ''] = keyScope.split('/');
  const key = deriveKey(Buffer.from(options.secret, 'utf8'), { date, region, service });
  const text = stringToSign(stamp, scope, canonicalText(canonical));
  return createHmac('sha256', key).update(text, 'latin1').digest('hex');
}

function definedRules({ normalizePath, doubleEncode }: Aws4SignerOptions) {
  return {
    ...(normalizePath === undefined ? {} : { normalizePath }),
    ...(doubleEncode === undefined ? {} : { doubleEncode }),
  };
}

/** Returns the value of a field; the host is that of the URL. */
function fieldOf(request: OutgoingRequest, name: string): string {
  const line = lineOf(request.headers, name);
  return line?.[1] ?? (name.toLowerCase() === 'host' ? splitUrl(request.url).host : '');
}
