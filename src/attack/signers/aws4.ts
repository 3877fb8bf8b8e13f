import {
  type Aws4Signature,
  type Aws4SignOptions,
  pathRulesOf,
  presignAws4,
  signAws4,
} from '../../signature/aws4/sign.ts';
import { lineOf, type OutgoingRequest } from '../attempt.ts';
import type { RequestSigner, SignedParts, SignerTraits, SigningChanges } from './signer.ts';
import { bytesOf, splitUrl } from './target.ts';

/** The options of `aws4Signer`. Those of a declared scheme can be passed too. */
export interface Aws4SignerOptions {
  /** The name of the user, or the id of one of its keys. */
  readonly accessKeyId: string;
  readonly secret: string;
  readonly region: string;
  readonly service: string;
  readonly sessionToken?: string;
  /** The lifetime of presigned URLs in seconds. Default: none, so header fields are signed. */
  readonly presigned?: number;
  /** Whether the signed path is normalized. Default: true, for the service `s3` false. */
  readonly normalizePath?: boolean;
  /** Whether the signed path is percent-encoded twice. Default: true, for the service `s3` false. */
  readonly doubleEncode?: boolean;
  /** Whether the server accepts content that is not signed, so that it is not tried. Default: false. */
  readonly unsignedPayload?: boolean;
  /** `refuse` if the server accepts a signature only once within the window. Default: `allow`. */
  readonly replay?: 'refuse' | 'allow';
}

/** The scheme, for its own attempts. */
export interface Aws4Signing {
  readonly kind: 'aws4';
  readonly options: Aws4SignerOptions;
  /** Signs in header fields. */
  inFields(request: OutgoingRequest, changes: SigningChanges, other?: Aws4Changes): SignedParts | undefined;
  /** Presigns the URL. */
  inQuery(request: OutgoingRequest, changes: SigningChanges, other?: Aws4Changes): SignedParts | undefined;
}

/** Other values than the signer's own. */
export interface Aws4Changes
  extends Partial<Pick<Aws4SignOptions, 'region' | 'service' | 'unsignedPayload'>> {
  /** The lifetime of a presigned URL in seconds. */
  readonly expires?: number;
}

/** The lifetime of presigned URLs in attempts of a signer that signs header fields. */
const defaultExpires = 300;

/**
 * Creates a signer for AWS Signature Version 4, in header fields or in the query. The host is signed, so the good request's
 * URL must be that of the server under attack. Signed are Host, Content-Type and all X-Amz fields.
 */
export function aws4Signer(options: Aws4SignerOptions): RequestSigner {
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
    scheme,
  };
  return Object.assign(sign.bind(undefined), { user: options.accessKeyId, tlsOnly: false, traits });
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
