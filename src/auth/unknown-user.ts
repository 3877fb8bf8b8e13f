import { findClosestMatch } from '../did-you-mean.ts';
import type { KnownSecret, TraceKnowledge } from './trace.ts';

/** Describes a user that cannot authenticate, with the nearest name. */
export function describeUnknownUser(user: string, knowledge: TraceKnowledge): string {
  return describeUnknown('user', user, knowledge);
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
  const meant = owner === 'user' ? [...names, ...knowledge.keyIds] : names;
  const nearest =
    meant.find((each) => each.toLowerCase() === name.toLowerCase()) ?? findClosestMatch(name, meant);
  return `there is no ${owner} ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}
