import { type Clock, systemClock } from '../../clock.ts';
import type { TlsIdentity } from '../../net/tls/identity.ts';
import type { Grants } from '../../oauth/grants.ts';
import type { Listener } from '../../service/service.ts';
import { claimedToken } from '../auth/token-user.ts';
import { expireTokens } from '../auth/tokens.ts';
import type { ReportError } from '../callback.ts';
import type { CertificateAuthority } from '../certificate-authority.ts';
import type { ClaimedUser } from '../claimed-user.ts';
import type { DoubleUsers } from '../state/users.ts';
import { createFaults, type FaultsOptions, type FaultsPart } from './faults.ts';

/** Faults that change other parts of a double: users, tokens and the certificate. */
export interface ControlledFaults extends FaultsPart {
  /** Sets the certificate of a listener: `valid()`, or an expired one by `issue` while a stale certificate is planned. */
  presentBy(listening: Listener, valid: () => TlsIdentity, issue: CertificateAuthority['issue']): void;
}

/** The parts that faults change. */
interface ControlledParts {
  readonly clock: Clock;
  /** The users whose secrets can be rotated. Default: none. */
  readonly users?: DoubleUsers;
  /** Returns the names of all users and clients. */
  readonly names: () => readonly string[];
  /** Called with the errors of functions that select requests. */
  readonly onError: ReportError | undefined;
  readonly grants: () => Grants;
  /** Adds to the response of a fault what the service adds to every response. */
  readonly complete: NonNullable<FaultsOptions['complete']>;
  /** Returns the user that the credentials of a request name. */
  readonly claimedUser: ClaimedUser;
  readonly matched: FaultsOptions['matched'];
  readonly needs: FaultsOptions['needs'];
}

const day = 86_400_000;

/** Creates the faults of a double. */
export function createControlledFaults({
  clock,
  users,
  grants,
  names,
  onError,
  claimedUser,
  matched,
  needs,
  complete,
}: ControlledParts): ControlledFaults {
  let present: ((certificate: 'good' | 'stale') => void) | undefined;
  const part = createFaults({
    clock,
    names,
    claimedUser,
    complete,
    onError,
    matched,
    needs,
    ...(users !== undefined && {
      rotateSecret(user: string) {
        if (users.all.has(user)) users.rotate(user);
      },
    }),
    async expireToken(request) {
      const token = claimedToken(request);
      if (token !== undefined) await expireTokens(grants(), token.value, token.mechanism);
    },
    presenter: () => present,
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
