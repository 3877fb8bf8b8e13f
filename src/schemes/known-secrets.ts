// What a test double knows of users and secrets: the secrets with which requests are signed by mistake, and users that do not exist.
import { findClosestMatch } from '../did-you-mean.ts';
import { maskedText } from './signature-form.ts';
import type { KnownSecret, TraceKnowledge } from './trace.ts';

/** The largest number of secrets that are tried. */
const maxTried = 1000;

/**
 * Returns the secrets with which a request of this user is not valid: those of others, former ones and passwords. Those of other kinds of
 * owners are the first.
 *
 * @param owner What the user is. Default: a user, not a client or a consumer.
 */
export function otherSecrets(
  knowledge: TraceKnowledge,
  user: string,
  owner: KnownSecret['owner'] = 'user',
): readonly KnownSecret[] {
  return knowledge.secrets
    .filter(({ secret }) => secret !== '')
    .filter((known) => known.owner !== owner || known.isPassword || known.name !== user || !known.current)
    .toSorted((one, other) => Number(one.owner === owner) - Number(other.owner === owner))
    .slice(-maxTried);
}

/**
 * Returns the mistake of a request that is signed with such a secret.
 *
 * @param owner What the user is. Default: a user, not a client or a consumer.
 */
export function describeOtherSecret(
  known: KnownSecret,
  user: string,
  owner: KnownSecret['owner'] = 'user',
): string {
  const isOther = known.owner !== owner && known.current && !known.isPassword;
  const what = isOther ? `the secret of the ${known.owner} ${known.name}` : describeOther(known, user);
  return `the request is signed with ${what}`;
}

/** Describes a secret that is not one of a user, or not any more: `a former secret of ann, which was replaced`. */
export function describeOther({ owner, name, isPassword, current }: KnownSecret, user: string): string {
  if (isPassword) return `the password of ${name} instead of a secret`;
  if (current) return `the secret of another ${owner}, ${name}`;
  return `a former secret of ${name}, which ${name === user ? 'was replaced' : 'is not valid any more'}`;
}

/** Describes a user, client or consumer that cannot authenticate, with the nearest name. */
export function describeUnknown(
  owner: KnownSecret['owner'],
  name: string,
  knowledge: TraceKnowledge,
): string {
  if (name === '')
    return `the name of the ${owner}${owner === 'user' ? ', or the id of the key,' : ''} is empty`;
  const known = knowledge.secrets.filter((each) => each.owner === owner);
  const names =
    owner === 'user' ? knowledge.userNames : known.flatMap((each) => (each.current ? each.name : []));
  if (names.includes(name)) return `the ${owner} ${name} is disabled`;
  if (known.some((each) => each.name === name)) return `the ${owner} ${name} was removed`;
  const sent = known.find(({ secret }) => secret === name);
  if (sent !== undefined) return `a secret of ${sent.name} was sent as the name of the ${owner}`;
  const meant = owner === 'user' ? [...names, ...knowledge.keyIds] : names;
  const nearest =
    meant.find((each) => each.toLowerCase() === name.toLowerCase()) ??
    meant.find((each) => each === name.replace(/^["'](.*)["']$/s, '$1')) ??
    meant.find((each) => isMasked(name, each)) ??
    findClosestMatch(name, meant);
  return `there is no ${owner} ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

/** Returns whether a text is another one as pages and logs show it, masked: `sk_live_****`. */
export function isMasked(text: string, whole: string): boolean {
  const [, start, end] = maskedText.exec(text) ?? [];
  if (start === undefined || end === undefined || start + end === '') return false;
  return whole.length > start.length + end.length && whole.startsWith(start) && whole.endsWith(end);
}
