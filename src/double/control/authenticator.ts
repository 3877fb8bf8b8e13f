import { createHash, timingSafeEqual } from 'node:crypto';
import type { Authenticator } from '../../auth/authenticate.ts';
import type { FieldLine } from '../../http/fields.ts';
import { formatChallenge, parseCredentials } from '../../http/headers/authorization.ts';
import type { IncomingRequest } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import type { Principal } from '../../principal.ts';

/** The name of the principal that holds the token. */
export const controller = 'controller';

function challenge(): FieldLine {
  return ['WWW-Authenticate', formatChallenge('Bearer', [['realm', 'Countersign control']])];
}

/**
 * Creates the authenticator of the control interface. It accepts the token over plain HTTP, since the interface listens on
 * 127.0.0.1 only.
 */
export function createControlAuthenticator(token: string): Authenticator {
  const expected = computeDigest(token);
  const principal: Principal = { name: controller, scheme: 'bearer' };
  return {
    authenticate(request) {
      const sent = readToken(request);
      if (sent === undefined) return undefined;
      // timingSafeEqual requires equal lengths, which digests have.
      if (timingSafeEqual(computeDigest(sent), expected)) return principal;
      throw new Problem('token-refused', 'The token is not the token of this control interface.', {
        headers: [challenge()],
      });
    },
    challenges: () => [challenge()],
    missing: (detail) => new Problem('authentication-required', detail, { headers: [challenge()] }),
    scopeChallenge: () => [],
  };
}

function computeDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Returns the token of a request, or undefined without credentials. Throws a Problem (400 or 401) on other credentials. */
function readToken({ headers }: IncomingRequest): string | undefined {
  const lines = headers.getAll('authorization');
  const [line] = lines;
  if (line === undefined) return undefined;
  if (lines.length > 1) throw new Problem('several-credentials', 'Send one Authorization field only.');
  const credentials = parseCredentials(line);
  if (credentials === undefined)
    throw new Problem('malformed-credentials', 'Authorization must be "Bearer" and the token.');
  if (credentials.scheme === 'bearer') return credentials.rest;
  throw new Problem('scheme-not-offered', 'The control interface requires a bearer token.', {
    headers: [challenge()],
  });
}
