import {
  type Aws4Signature,
  type Aws4SignOptions,
  pathRulesOf,
  presignAws4,
  signAws4,
} from '../../signature/aws4/sign.ts';
import { lineOf, type OutgoingRequest } from '../attempt.ts';
import { checkSignerOptions } from './check-options.ts';
import { type Aws4Changes, type Aws4SignerOptions, type Aws4Signing, withScheme } from './schemes.ts';
import type { SigningChanges } from './signed-parts.ts';
import type { RequestSigner, SignerTraits } from './signer.ts';
import { bytesOf, splitUrl } from './target.ts';

/** The lifetime of presigned URLs in attempts of a signer that signs header fields. */
const defaultExpires = 300;

/**
 * Creates a signer for AWS Signature Version 4, in header fields or in the query. The host is signed, so the good request's
 * URL must be that of the server under attack. Signed are Host, Content-Type and all X-Amz fields.
 */
export function aws4Signer(options: Aws4SignerOptions): RequestSigner {
  checkSignerOptions(options, 'aws4Signer', ['accessKeyId', 'secret', 'region', 'service']);
  const { presigned } = options;
  const inFields: Aws4Signing['inFields'] = (request, changes, other) => {
    const signed = signedBy(options, changes, other, (all) => signAws4(requestOf(request), all));
    return signed && { fields: Object.fromEntries(signed.fields), query: '' };
  };
  const inQuery: Aws4Signing['inQuery'] = (request, changes, other = {}) => {
    const { expires = presigned ?? defaultExpires } = other;
    const signed = signedBy(options, changes, other, (all) => presignAws4(requestOf(request), all, expires));
    return signed && { fields: {}, query: addedTo(splitUrl(request.url).target, signed.target) };
  };
  const sign: RequestSigner = presigned === undefined ? inFields : inQuery;
  const scheme: Aws4Signing = { kind: 'aws4', options, inFields, inQuery };
  const traits: SignerTraits = {
    place:
      presigned === undefined
        ? { in: { field: 'Authorization' }, form: /^(.*Signature=)(.*)()$/ }
        : { in: { query: 'X-Amz-Signature' }, form: /^()(.*)()$/ },
    ...(presigned === undefined ? { dateField: 'X-Amz-Date' } : { lifetime: presigned }),
    acceptedOnce: options.replay === 'refuse',
  };
  return Object.assign(sign.bind(undefined), {
    user: options.accessKeyId,
    tlsOnly: false,
    traits: withScheme(traits, scheme),
  });
}

function signedBy(
  options: Aws4SignerOptions,
  changes: SigningChanges,
  other: Aws4Changes = {},
  sign: (options: Aws4SignOptions) => Aws4Signature,
): Aws4Signature | undefined {
  const { date = Date.UTC(1970, 0), user = options.accessKeyId, secret = options.secret } = changes;
  if (typeof date === 'string') return undefined;
  const { region, service, sessionToken, unsignedPayload } = { ...options, unsignedPayload: false, ...other };
  const rules = pathRulesOf(options.service);
  const { normalizePath = rules.normalizePath, doubleEncode = rules.doubleEncode } = options;
  return sign({
    ...{ accessKeyId: user, region, service, time: date, normalizePath, doubleEncode },
    // An empty secret is rejected. Keys are padded with zeros (RFC 2104 §2), so this one is equivalent.
    secret: secret === '' ? '\0' : secret,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    // For a presigned URL of Amazon S3, the content is not signed by default.
    ...(unsignedPayload ? { unsignedPayload } : {}),
  });
}

function requestOf(request: OutgoingRequest) {
  const { host, target } = splitUrl(request.url);
  const signed = request.headers.filter(([name]) => /^(?:host|content-type|x-amz-.*)$/i.test(name));
  if (lineOf(signed, 'Host') === undefined) signed.push(['Host', host]);
  return { method: request.method, target, fields: signed, content: bytesOf(request) };
}

/** Returns the parameters that were appended to a target. */
function addedTo(target: string, longer: string): string {
  return longer.slice(target.length + 1);
}
