import {
  type Attempt,
  adding,
  attempt,
  type HeaderLine,
  inTheClear,
  malformed,
  type OutgoingRequest,
  replacing,
  taken,
  without,
} from '../attempt.ts';
import { credentialsOf, type Forger, provenOf } from '../forger.ts';

/** Good credentials in ambiguous places, or over plain HTTP. */
export function* transportAttempts(forge: Forger): Generator<Attempt> {
  yield* doubled(forge);
  if (forge.needs === 'tls') yield* plainly(forge);
  yield* meaningless(forge);
}

/** `nobody:nothing` */
const nobodys = 'bm9ib2R5Om5vdGhpbmc=';

function* doubled(forge: Forger): Generator<Attempt> {
  const why = 'Which of two counts must not be a guess: a proxy may have checked the other one.';
  const twice = (name: string, request: OutgoingRequest): Attempt =>
    attempt({ name, why, expected: malformed, needs: forge.needs, requests: [request] });
  const line = credentialsOf(forge.good());
  if (line === undefined) return;
  const [field] = line;
  const good = forge.good();
  yield twice('the credentials stand there twice', adding(good, credentialsOf(good) ?? line));
  const bad = (): HeaderLine => wrong(forge.good()) ?? line;
  yield twice('bad credentials stand behind the good ones', adding(forge.good(), bad()));
  yield twice('bad credentials stand before the good ones', leading(forge.good(), bad()));
  if (field !== 'Authentication') return;
  const both = forge.good();
  const value = credentialsOf(both)?.[1] ?? '';
  yield twice(
    'the credentials are in Authentication and in Authorization',
    adding(both, ['Authorization', value]),
  );
  const others: HeaderLine = ['Authorization', `Basic ${nobodys}`];
  yield twice('there is a password in Authorization besides', adding(forge.good(), others));
}

/** The credentials of a request, spoilt. */
function wrong(request: OutgoingRequest): HeaderLine | undefined {
  const proven = provenOf(request);
  if (proven === undefined) return undefined;
  const proof = [...proven.proof].reverse().join('').replace(/^=+/, '');
  return [proven.name, `${proven.before}${proof.padEnd(proven.proof.length, 'A')}${proven.after}`];
}

function leading(request: OutgoingRequest, [name, value]: HeaderLine): OutgoingRequest {
  const own = request.headers.filter(([known]) => known.toLowerCase() === name.toLowerCase());
  return { ...request, headers: [...without(request.headers, name), [name, value], ...own] };
}

/** Fields that count only from a trusted proxy. */
const forgeries: readonly HeaderLine[] = [
  ['X-Forwarded-Proto', 'https'],
  ['Forwarded', 'for=127.0.0.1;proto=https'],
  ['X-Forwarded-Ssl', 'on'],
  ['Front-End-Https', 'on'],
];

function* plainly(forge: Forger): Generator<Attempt> {
  const why = 'Everybody on the way can read what opens the resource, so it is not good here.';
  const clear = { expected: inTheClear, needs: 'plain' } as const;
  const name = 'the credentials come over plain HTTP';
  yield attempt({ name, why, ...clear, requests: [forge.good()] });
  for (const [field, value] of forgeries) {
    const request = replacing(forge.good(), [field, value]);
    const forged = `${field} counts only from a proxy that is trusted.`;
    yield attempt({
      name: `${name}, and ${field} says they did not`,
      why: forged,
      ...clear,
      requests: [request],
    });
  }
}

/** Fields that mean nothing, in good requests: these must be answered as if the fields were not there. */
function* meaningless(forge: Forger): Generator<Attempt> {
  for (const field of ['X-HTTP-Method-Override', 'X-Method-Override', 'X-HTTP-Method']) {
    yield attempt({
      name: `${field} names a method that does not exist, and changes nothing`,
      why: 'The method is what stands in the request line; a server that looks at the field would answer 405 or 501.',
      expected: taken,
      needs: forge.needs,
      requests: [adding(forge.good(), [field, 'BREW'])],
    });
  }
}
