import { formatChallenge } from '../../http/headers/authorization.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { splitTarget } from '../../http/target.ts';
import { aws4Algorithm } from '../../signature/aws4/canonical-request.ts';
import {
  type Aws4Credentials,
  parseCredentialsField,
  parsePresigned,
  signatureParameter,
} from '../../signature/aws4/credentials.ts';
import type { Scheme } from '../scheme.ts';
import type { SchemeContext } from '../scheme-context.ts';
import { createProblemWriter, expressRefusal } from './errors/problem-writer.ts';
import type { Aws4Options } from './options.ts';

/**
 * Creates a scheme that verifies AWS Signature Version 4, in `Authorization` or in a presigned URL. Checks in this order: grammar,
 * scope, access key, signature, date, content, replay. The verification is loaded with the first credentials.
 */
export function createAws4Scheme(name: string, options: Aws4Options, context: SchemeContext): Scheme {
  let verify: Scheme['authenticate'] | undefined;
  const writeProblem = createProblemWriter(options);
  return {
    name,
    authorizationNames: [aws4Algorithm.toLowerCase()],
    locations: [{ query: signatureParameter }],
    requestHeaders: ['x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token'],
    ownsParameter: (parameter) => parameter.startsWith('X-Amz-'),
    authenticate(request, rest, authTrace, deferrable) {
      if (verify !== undefined) return verify(request, rest, authTrace, deferrable);
      return Promise.all([import('../verify.ts'), import('./signature.ts')]).then(
        ([{ createVerification }, { createAws4Signature }]) => {
          verify ??= createVerification(createAws4Signature(name, options, context, writeProblem), context);
          return verify(request, rest, authTrace, deferrable);
        },
      );
    },
    claimedUser(rest, request) {
      const credentials = readCredentials(rest, request, options.service);
      return typeof credentials === 'string' ? undefined : credentials.accessKeyId;
    },
    challenge: () =>
      formatChallenge(aws4Algorithm, [
        ['realm', context.realm],
        ['region', options.region],
        ['service', options.service],
      ]),
    ...(options.errors === 'aws' && {
      express: (problem, request) => expressRefusal(problem, request, writeProblem, context.clock.now()),
    }),
  };
}

function readCredentials(
  rest: string,
  { target }: IncomingRequest,
  service: string,
): Aws4Credentials | string {
  return rest === '' ? parsePresigned(splitTarget(target).query, service) : parseCredentialsField(rest);
}
