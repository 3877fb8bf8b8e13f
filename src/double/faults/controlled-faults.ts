import { type Clock, systemClock } from '../../clock.ts';
import { parseCredentials } from '../../http/headers/authorization.ts';
import type { Request } from '../../http/message.ts';
import type { ServerIdentity } from '../../net/tls/identity.ts';
import type { Grants } from '../../oauth/grants.ts';
import type { Listening } from '../../service/service.ts';
import { expireTokens } from '../auth/tokens.ts';
import type { CertificateAuthority } from '../certificate-authority.ts';
import type { DoubleUsers } from '../state/users.ts';
import { createFaults, type FaultsPart } from './faults.ts';

/** Faults that change other parts of a double: users, tokens and the certificate. */
export interface ControlledFaults extends FaultsPart {
  /** Sets the certificate of a listener: `valid()`, or an expired one by `issue` while a stale certificate is planned. */
  presentBy(listening: Listening, valid: () => ServerIdentity, issue: CertificateAuthority['issue']): void;
}

/** The parts that faults change. */
export interface ControlledParts {
  readonly clock: Clock;
  /** The users whose secrets can be rotated. Default: none. */
  readonly users?: DoubleUsers;
  readonly grants: () => Grants;
}

const day = 86_400_000;

/** Creates the faults of a double. */
export function createControlledFaults({ clock, users, grants }: ControlledParts): ControlledFaults {
  let present: (certificate: 'good' | 'stale') => void = () => undefined;
  const part = createFaults({
    clock,
    ...(users !== undefined && {
      rotateSecret(user: string) {
        if (users.all.has(user)) users.rotate(user);
      },
    }),
    async expireToken(request) {
      const token = tokenOf(request);
      if (token !== undefined) await expireTokens(grants(), token);
    },
    present: (certificate) => present(certificate),
  });
  return {
    ...part,
    presentBy(listening, valid, issue) {
      present = (certificate) => {
        // Clients check certificates by the host's time.
        const now = systemClock.now();
        const stale = { from: now - 10 * day, until: now - day };
        listening.replaceCertificate(certificate === 'good' ? valid() : issue(stale));
      };
    },
  };
}

/** Returns the token in a request's `Authorization` field, or undefined if there is none. */
function tokenOf({ fields }: Request): string | undefined {
  const credentials = parseCredentials(fields.lines('authorization')[0] ?? '');
  if (credentials?.scheme === 'bearer') return credentials.rest;
  if (credentials?.scheme !== 'oauth') return undefined;
  const token = /(?:^|[\s,])oauth_token="([^"]*)"/.exec(credentials.rest)?.[1];
  return token === undefined ? undefined : decodeURIComponent(token);
}
