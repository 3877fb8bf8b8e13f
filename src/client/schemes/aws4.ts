import type { Aws4Options } from '../../auth/aws4/options.ts';
import { type Aws4Signature, presignAws4, signAws4 } from '../../signature/aws4/sign.ts';
import {
  checkId,
  checkSecret,
  chooseId,
  readHost,
  type SchemeSigner,
  type SignedPart,
} from '../../signature/signing.ts';

/** Fields that are not signed: clients and proxies set them later, or they contain the signature. */
const unsignedFields: ReadonlySet<string> = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'expect',
  'host',
  'te',
  'transfer-encoding',
  'user-agent',
  'x-amz-content-sha256',
  'x-amz-date',
  'x-amz-security-token',
  'x-amzn-trace-id',
]);

/** Creates the signer of AWS Signature Version 4, in `Authorization` or, with `presign`, in the query. */
export function createAws4Signer(name: string, options: Aws4Options): SchemeSigner {
  const { region, service, normalizePath, doubleEncode, plusInPath } = options;
  return {
    check(identity) {
      checkId(identity, name);
      checkSecret(identity, name);
    },
    sign(request, identity, { now, presign, sessionToken, aws4 }) {
      const { method, target, fields, content } = request;
      const signedFields = fields.filter(([field]) => !unsignedFields.has(field.toLowerCase()));
      const unsigned = {
        method,
        target,
        fields: [['Host', readHost(request)], ...signedFields] as const,
        content,
      };
      const signing = {
        accessKeyId: chooseId(identity),
        secret: identity.secret ?? '',
        region,
        service,
        normalizePath,
        doubleEncode,
        plusInPath,
        sessionToken,
        time: now,
        ...aws4,
      };
      const signed =
        presign === undefined ? signAws4(unsigned, signing) : presignAws4(unsigned, signing, presign);
      return { fields: signed.fields, target: signed.target, parts: listShownParts(signed) };
    },
  };
}

/** Returns the parts of the canonical request, and the string to sign in place of its parts. */
function listShownParts({ parts, stringToSign }: Aws4Signature): SignedPart[] {
  const canonical = parts.filter(({ name }) => name !== 'timestamp' && name !== 'scope');
  return [...canonical, { name: 'string to sign', value: stringToSign }];
}
