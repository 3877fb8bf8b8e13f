import { type AttackRequest, type Attempt, appendLines, attempt, refused, removeLines } from '../attempt.ts';
import type { Forger } from '../forger.ts';
import { contentVariants } from '../target.ts';

/** The number of requests that are sent at the same time. */
export const raceSize = 8;

/** Requests that are sent at the same time, of which exactly one may be accepted. */
export function* raceAttempts(forger: Forger): Generator<Attempt> {
  if (forger.once) yield nonceRace(forger);
  yield* preconditionRace(forger);
}

function nonceRace(forger: Forger): Attempt {
  const good = forger.signGood();
  return attempt({
    id: 'replay-race',
    name: `the request is sent ${raceSize} times at once`,
    why: 'A server that first looks the nonce up and then stores it accepts a request that arrives in between.',
    expected: refused,
    needs: forger.needs,
    requests: Array.from({ length: raceSize }, () => good),
    together: true,
  });
}

/** Methods that replace or change a representation. */
const changingMethods: ReadonlySet<string> = new Set(['PUT', 'PATCH']);

function* preconditionRace(forger: Forger): Generator<Attempt> {
  const { plain } = forger;
  // If-Match is added when the entity tag is known, so the signature must not cover it.
  const isCovered = forger.sendAs(appendLines(plain, ['If-Match', '"1"'])) !== undefined;
  if (!changingMethods.has(plain.method) || plain.body === undefined || isCovered) return;
  // Equal content may keep the entity tag, so that several requests are accepted rightly.
  const requests = contentVariants(plain.body, raceSize)
    .map((body) => forger.signRequest({}, { ...plain, body }))
    .filter((request): request is AttackRequest => request !== undefined);
  const headers = removeLines(plain.headers, 'Content-Type', 'Content-Length', 'Content-Encoding');
  const read = forger.signRequest({}, { method: 'GET', url: plain.url, headers });
  if (requests.length === 0 || read === undefined) return;
  yield attempt({
    id: 'lost-update',
    name: `${raceSize} changes with the same If-Match are sent at once`,
    why: 'A server that first compares the entity tag and then stores the change loses updates (RFC 9110 §13.1.1).',
    expected: [412, 409],
    needs: forger.needs,
    requests,
    together: true,
    entityTagFrom: read,
  });
}
