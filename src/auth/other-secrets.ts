// The secrets with which the requests of a user or a consumer are signed by mistake. Only a test double knows them.
import type { KnownSecret, TraceKnowledge } from './trace.ts';

/** The largest number of secrets that are tried. */
const maxTried = 1000;

/**
 * Returns the secrets of users with which a request of this user is not valid: those of others, former ones and passwords.
 *
 * @param owner What the user is. Default: a user, not a client or a consumer.
 */
export function otherSecrets(
  knowledge: TraceKnowledge,
  user: string,
  owner: KnownSecret['owner'] = 'user',
): readonly KnownSecret[] {
  return knowledge.secrets
    .filter((known) => known.owner === owner && known.secret !== '')
    .filter(({ name, current, isPassword }) => isPassword || name !== user || !current)
    .slice(-maxTried);
}

/** Returns the mistake of a request that is signed with such a secret. */
export function describeOtherSecret(known: KnownSecret, user: string): string {
  return `the request is signed with ${describeOther(known, user)}`;
}

/** Describes a secret that is not one of a user, or not any more: `a former secret of ann, which was replaced`. */
export function describeOther({ owner, name, isPassword, current }: KnownSecret, user: string): string {
  if (isPassword) return `the password of ${name} instead of a secret`;
  if (current) return `the secret of another ${owner}, ${name}`;
  return `a former secret of ${name}, which ${name === user ? 'was replaced' : 'is not valid any more'}`;
}
