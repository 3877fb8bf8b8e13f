import { signedHeadersOf } from '../../signature/aws4/canonical-request.ts';
import { type Aws4Signature, presignAws4, signAws4 } from '../../signature/aws4/sign.ts';
import {
  hostOf,
  requiredId,
  requiredSecret,
  type SchemeCredentials,
  type SchemeSigner,
  type SignedPart,
  type SigningChoices,
  type SigningScheme,
} from './scheme-signer.ts';

/** Fields that are not signed: clients and proxies set them later, or they contain the signature. */
const unsignedFields: ReadonlySet<string> = new Set([
  ...['accept-encoding', 'authorization', 'connection', 'content-length', 'expect', 'host'],
  ...['te', 'transfer-encoding', 'user-agent', 'x-amz-content-sha256', 'x-amz-date'],
  ...['x-amz-security-token', 'x-amzn-trace-id'],
]);

/** Creates a signer for AWS Signature Version 4, in `Authorization` or, with `presign`, in the query. */
export function createAws4Signer(
  { name, options }: Extract<SigningScheme, { kind: 'aws4' }>,
  credentials: SchemeCredentials,
  { presign, sessionToken }: SigningChoices,
): SchemeSigner {
  const { region, service, normalizePath, doubleEncode } = options;
  const accessKeyId = requiredId(credentials, name);
  const secret = requiredSecret(credentials, name);
  const fixed = { accessKeyId, secret, region, service, normalizePath, doubleEncode, sessionToken };
  return (request, { now }) => {
    const { method, target, fields, content } = request;
    const signedFields = fields.filter(([field]) => !unsignedFields.has(field.toLowerCase()));
    const unsigned = {
      method,
      target,
      fields: [['Host', hostOf(request)], ...signedFields] as const,
      content,
    };
    const signing = { ...fixed, time: now };
    const signed =
      presign === undefined ? signAws4(unsigned, signing) : presignAws4(unsigned, signing, presign);
    return { fields: signed.fields, target: signed.target, parts: partsOf(signed) };
  };
}

function partsOf({ canonical, stringToSign }: Aws4Signature): SignedPart[] {
  const { method, path, query, headers, payloadHash } = canonical;
  return [
    { name: 'method', value: method },
    { name: 'canonical path', value: path },
    { name: 'canonical query', value: query },
    ...headers.map(([header, value]) => ({ name: `header ${header}`, value })),
    { name: 'signed headers', value: signedHeadersOf(canonical) },
    { name: 'payload hash', value: payloadHash },
    { name: 'string to sign', value: stringToSign },
  ];
}
