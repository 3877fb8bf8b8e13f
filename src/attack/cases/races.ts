import { type AttackRequest, appendLines, type Case, group, refused, removeLines } from '../attempt.ts';
import type { Forger } from '../forger.ts';
import { contentVariants } from '../target.ts';

/** The number of requests that are sent at the same time. */
export const raceSize = 8;

/** Requests that are sent at the same time, of which exactly one may be accepted. */
export function* raceCases(forger: Forger): Generator<Case> {
  const good = Array<AttackRequest>(raceSize).fill(forger.signGood());
  const stored =
    'A server that first looks the nonce up and then stores it accepts a request that arrives in between.';
  yield* group({ id: 'replay-race', why: stored, expected: refused, together: true }, [
    [`the request is sent ${raceSize} times at once`, forger.once ? good : undefined],
  ]);
  const { read, changes } = listChanges(forger);
  if (read === undefined || changes.length === 0) return;
  const why =
    'A server that first compares the entity tag and then stores the change loses updates (RFC 9110 §13.1.1).';
  yield* group({ id: 'lost-update', why, expected: [412, 409], together: true, entityTagFrom: read }, [
    [`${raceSize} changes with the same If-Match are sent at once`, changes],
  ]);
}

/** Methods that replace or change a representation. */
const changingMethods: ReadonlySet<string> = new Set(['PUT', 'PATCH']);

/** Returns changes of one representation, and the request that reads it. */
function listChanges({ plain, sendAs, signRequest }: Forger): {
  readonly read?: AttackRequest | undefined;
  readonly changes: readonly AttackRequest[];
} {
  // If-Match is added when the entity tag is known, so the signature must not cover it.
  const isCovered = sendAs(appendLines(plain, ['If-Match', '"1"'])) !== undefined;
  if (!changingMethods.has(plain.method) || plain.body === undefined || isCovered) return { changes: [] };
  // Equal content may keep the entity tag, so that several requests are accepted rightly.
  const changes = contentVariants(plain.body, raceSize)
    .map((body) => signRequest({}, { ...plain, body }))
    .filter((request): request is AttackRequest => request !== undefined);
  const headers = removeLines(plain.headers, 'Content-Type', 'Content-Length', 'Content-Encoding');
  return { changes, read: signRequest({}, { method: 'GET', url: plain.url, headers }) };
}
