import { closestMatch } from '../did-you-mean.ts';
import type { TraceKnowledge } from './trace.ts';

/** Describes a user that cannot authenticate, with the nearest name. */
export function describeUnknownUser(user: string, knowledge: TraceKnowledge): string {
  if (user === '') return 'the name of the user, or the id of the key, is empty';
  const names = knowledge.userNames();
  if (names.includes(user)) return `the user ${user} is disabled`;
  const had = knowledge.secrets().some(({ owner, name }) => owner === 'user' && name === user);
  if (had) return `the user ${user} was removed`;
  const nearest =
    names.find((name) => name.toLowerCase() === user.toLowerCase()) ?? closestMatch(user, names);
  return `there is no user ${user}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}
