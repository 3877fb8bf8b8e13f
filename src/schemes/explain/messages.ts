// The messages that clients sign by mistake.

import { octetsOf } from '../../http/syntax/octets.ts';
import { messageBytes, octetsOfPiece, type Part, type PartKind } from '../message.ts';
import type { MessageMistake } from '../scheme.ts';
import { makingTime } from './budget.ts';
import { escapeMistakes, inLowerCase } from './escapes.ts';
import { listVariants, type Variant } from './mistake.ts';
import { furtherVariantsOfPart, variantsOfPart } from './parts.ts';
import type { RightMessage, Search } from './search.ts';
import { readings, usualReadings } from './times.ts';
import {
  additions,
  doubleOmissions,
  endMistakes,
  memberMistakes,
  omissions,
  orderMistakes,
  separatorMistakes,
  versionMistakes,
  wholeMistakes,
} from './whole.ts';

/** The longest message (bytes) that is remembered, so that one that equals it is not tried again. */
const longestRemembered = 65_536;

/**
 * Yields the messages that clients sign in place of a right one, most likely first, without those that equal a right one or an earlier
 * one. Each is built when it is asked for.
 */
export function* messageMistakes(search: Search, right: RightMessage): Generator<MessageMistake> {
  if (right.parts.length === 0) return;
  const seen = new Set<string>();
  for (const mistake of buildMistakes(search, right)) {
    const { message } = mistake;
    if (search.messages.some((each) => each.message.equals(message))) continue;
    if (message.length > longestRemembered || seen.size < seen.add(octetsOf(message)).size) yield mistake;
  }
}

function* buildMistakes(search: Search, { parts, message }: RightMessage): Generator<MessageMistake> {
  const { wrong, facts, content, assemble } = search;
  const { catalogue } = search.budgets;
  const { scheme, presented } = wrong;
  const ofContent = makingTime(octetsOf(content));
  const times = parts.map(({ kind, value }) =>
    kind === 'digest' || kind === 'form' ? ofContent : makingTime(octetsOfPiece(value)),
  );
  const change = function* (at: number, variants: Iterable<Variant>): Generator<MessageMistake> {
    for (const [hint, signed] of catalogue.limit(times[at] ?? 0, variants))
      yield search.change(parts, at, hint, signed);
  };
  const changes = parts.map(function* (part, at): Generator<MessageMistake> {
    yield* change(at, scheme.mistakes?.part?.(part, presented, content) ?? []);
    yield* change(at, variantsOfPart(part, facts));
  });
  const own = scheme.mistakes?.message?.(presented, parts, content) ?? [];
  yield* takeTurns([
    catalogue.limit(Math.max(ofContent, ...times), own),
    endMistakes(message, parts),
    ...changes,
    readings(parts, presented.time, usualReadings, assemble),
  ]);
  yield* catalogue.limit(Math.max(...times), changeUrl(parts, search));
  yield* omissions(parts, assemble);
  yield* separatorMistakes(parts, assemble);
  yield* versionMistakes(parts, assemble);
  // The order of the parts of a canonical form is that of the form.
  if (scheme.join === undefined) yield* orderMistakes(parts, assemble);
  yield* wholeMistakes(message);
  yield* doubleOmissions(parts, assemble);
  yield* memberMistakes(parts, content, assemble);
  yield* additions(parts, facts, presented.user, assemble);
  // To build them takes longer than a server has.
  if (wrong.knowledge?.isLimited === false)
    yield* takeTurns(parts.map((part, at) => change(at, furtherVariantsOfPart(part, facts))));
}

/** The kinds of parts that clients often take from one URL. */
const ofUrl: readonly PartKind[] = ['path', 'query', 'search'];

/** Yields messages in which the path and the query were changed in the same way, as in a URL that was decoded before it was signed. */
function* changeUrl(parts: readonly Part[], { facts, assemble }: Search): Generator<MessageMistake> {
  const places = parts.filter(({ kind }) => ofUrl.includes(kind));
  if (places.length < 2) return;
  for (const mistake of [...escapeMistakes, inLowerCase]) {
    const lists = places.map(({ value }) => [
      ...listVariants([mistake], 'the URL', octetsOfPiece(value), facts),
    ]);
    for (const [at, [hint]] of (lists[0] ?? []).entries()) {
      const values = new Map(places.map((part, place) => [part, lists[place]?.[at]?.[1]]));
      const changed = parts.map((part) => ({ ...part, value: values.get(part) ?? part.value }));
      yield { hint, message: messageBytes(assemble(changed)) };
    }
  }
}

/** Yields the first item of each list, then the second ones: a budget that ends early has tried the likely ones of each. */
export function* takeTurns<Item>(lists: readonly Iterable<Item>[]): Generator<Item> {
  let iterators = lists.map((list) => list[Symbol.iterator]());
  while (iterators.length > 0) {
    const left: Iterator<Item>[] = [];
    for (const iterator of iterators) {
      const step = iterator.next();
      if (step.done === true) continue;
      yield step.value;
      left.push(iterator);
    }
    iterators = left;
  }
}
