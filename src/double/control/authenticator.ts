import { createHash, timingSafeEqual } from 'node:crypto';
import type { Authenticator } from '../../auth/authenticate.ts';
import type { FieldLine } from '../../http/fields.ts';
import { formatChallenge, parseCredentials } from '../../http/headers/authorization.ts';
import type { Request } from '../../http/message.ts';
import { Problem } from '../../http/problem.ts';
import type { Principal } from '../../principal.ts';

/** The name of the principal who has the token. */
export const controller = 'controller';

function challenge(): FieldLine {
  return ['WWW-Authenticate', formatChallenge('Bearer', [['realm', 'Countersign control']])];
}

/** Makes the authenticator of the control interface. The token is taken over plain HTTP, since the interface is on 127.0.0.1 alone. */
export function createControlAuthenticator(token: string): Authenticator {
  const expected = digestOf(token);
  const known: Principal = { name: controller, scheme: 'bearer' };
  return {
    authenticate(request) {
      const sent = tokenOf(request);
      if (sent === undefined) return undefined;
      // Digests have one length, as timingSafeEqual requires.
      if (timingSafeEqual(digestOf(sent), expected)) return known;
      throw new Problem('token-refused', 'The token is not that of this control interface.', {
        fields: [challenge()],
      });
    },
    challenges: () => [challenge()],
    scopeChallenge: () => [],
  };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The token that a request carries; undefined where there are no credentials. Throws 400 or 401 on any others. */
function tokenOf({ fields }: Request): string | undefined {
  const lines = fields.lines('authorization');
  const [line] = lines;
  if (line === undefined) return undefined;
  if (lines.length > 1) throw new Problem('several-credentials', 'Send one Authorization field.');
  const credentials = parseCredentials(line);
  if (credentials === undefined)
    throw new Problem('malformed-credentials', 'Bearer and the token are expected.');
  if (credentials.scheme === 'bearer') return credentials.rest;
  throw new Problem('scheme-not-offered', 'The control interface takes a bearer token.', {
    fields: [challenge()],
  });
}
