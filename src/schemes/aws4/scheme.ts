import type { IncomingRequest } from '../../http/message.ts';
import type { Problem } from '../../http/problem.ts';
import { type AuthScheme, problemsOfDates, type SchemeTraits } from '../auth-scheme.ts';
import { checkId, checkSecret, chooseId, readHost } from '../signing.ts';
import { aws4Algorithm } from './canonical-request.ts';
import { parseCredentials, signatureParameter } from './credentials.ts';
import { createProblemWriter, expressRefusal } from './errors/problem-writer.ts';
import type { Aws4Options } from './options.ts';
import { presignAws4, signAws4 } from './sign.ts';

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

/** The name of the scheme for people. */
export const aws4Label = 'AWS Signature Version 4';

/** Creates the scheme AWS Signature Version 4. It signs in `Authorization` or, with `presign`, in the query. */
export function createAws4Scheme(name: string, options: Aws4Options): AuthScheme<'aws4', Aws4Options> {
  const { region, service, window, replay } = options;
  const about = `${aws4Label} (\`AWS4-HMAC-SHA256 Credential=…\`) for the region ${region} and the service ${service}, or a presigned URL`;
  const writeProblem = createProblemWriter(options);
  return {
    kind: 'aws4',
    name,
    label: aws4Label,
    options,
    choices: ['presign', 'sessionToken'],
    signsAllFields: true,
    dateWindow: window,
    window: replay === 'refuse' ? window : 0,
    places: [
      { role: '', in: 'authorization', name: aws4Algorithm, description: about },
      { role: '', in: 'query', name: signatureParameter, isAlternative: true },
    ],
    requestHeaders: ['x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token'],
    challengeParameters: [
      ['region', region],
      ['service', service],
    ],
    problems: [...problemsOfDates, 'digest-required', 'streaming-signature-not-implemented'],
    check(identity) {
      checkId(identity, name);
      checkSecret(identity, name);
    },
    sign: createSignFunction(options),
    traits: ({ presign }) => ({ ...describeTraits(presign), acceptedOnce: replay === 'refuse' }),
    ownsParameter: (parameter) => parameter.startsWith('X-Amz-'),
    claimedUser(rest, request) {
      const credentials = parseCredentials(rest, request.target, service);
      return typeof credentials === 'string' ? undefined : credentials.accessKeyId;
    },
    ...(options.errors === 'aws' && {
      express: (problem: Problem, request: IncomingRequest, now: number) =>
        expressRefusal(problem, request, writeProblem, now),
    }),
    // It checks in this order: grammar, scope, access key, signature, date, content, replay.
    async load(context) {
      const { createAws4Signature } = await import('./signature.ts');
      return createAws4Signature(name, options, context, writeProblem);
    },
  };
}

function createSignFunction({ unsignedPayload: _, ...options }: Aws4Options): AuthScheme['sign'] {
  return (request, identity, { now, presign, sessionToken, aws4 }) => {
    const { method, target, fields, content } = request;
    const signedFields = fields.filter(([field]) => !unsignedFields.has(field.toLowerCase()));
    const unsigned = {
      method,
      target,
      fields: [['Host', readHost(request)], ...signedFields] as const,
      content,
    };
    const { secret = '' } = identity;
    const signing = { ...options, accessKeyId: chooseId(identity), secret, sessionToken, time: now, ...aws4 };
    return presign === undefined ? signAws4(unsigned, signing) : presignAws4(unsigned, signing, presign);
  };
}

function describeTraits(presign: number | undefined): SchemeTraits {
  return presign === undefined
    ? { place: { in: { field: 'Authorization' }, form: /^(.*Signature=)(.*)()$/s }, dateField: 'X-Amz-Date' }
    : { place: { in: { query: signatureParameter }, form: /^()(.*)()$/ }, lifetime: presign };
}
