import {
  type AttackRequest,
  type Attempt,
  appendLines,
  attempt,
  type HeaderLine,
  inTheClear,
  malformed,
  removeLines,
  replaceLine,
} from '../attempt.ts';
import type { Forger } from '../forger.ts';

/** Good credentials that are ambiguous, or sent over plain HTTP. */
export function* transportAttempts(forger: Forger): Generator<Attempt> {
  yield* duplicateCredentials(forger);
  if (forger.needs === 'tls') yield* sendOverPlainHttp(forger);
}

/** The Basic credentials `nobody:nothing`. */
const wrongBasic = 'bm9ib2R5Om5vdGhpbmc=';

function* duplicateCredentials(forger: Forger): Generator<Attempt> {
  const why = 'It is ambiguous which credentials count: a proxy may have verified the others.';
  const createAttempt = (name: string, request: AttackRequest): Attempt =>
    attempt({
      id: 'repeated-field',
      name,
      why,
      expected: malformed,
      needs: forger.needs,
      requests: [request],
    });
  const line = forger.credentials(forger.signGood());
  if (line === undefined || forger.traits?.place.isList === true) return;
  const [field] = line;
  const good = forger.signGood();
  yield createAttempt('the credentials occur twice', appendLines(good, forger.credentials(good) ?? line));
  const createBadLine = (): HeaderLine => corruptCredentials(forger) ?? line;
  yield createAttempt(
    'bad credentials follow the good ones',
    appendLines(forger.signGood(), createBadLine()),
  );
  yield createAttempt(
    'bad credentials precede the good ones',
    prependLine(forger.signGood(), createBadLine()),
  );
  if (field !== 'Authentication') return;
  const both = forger.signGood();
  const value = forger.credentials(both)?.[1] ?? '';
  yield createAttempt(
    'the credentials are in Authentication and in Authorization',
    appendLines(both, ['Authorization', value]),
  );
  const others: HeaderLine = ['Authorization', `Basic ${wrongBasic}`];
  yield createAttempt('there is also a password in Authorization', appendLines(forger.signGood(), others));
}

/** Returns good credentials with a wrong proof. */
function corruptCredentials(forger: Forger): HeaderLine | undefined {
  const credentials = forger.split(forger.signGood());
  if (credentials === undefined) return undefined;
  const { proof } = credentials;
  const reversed = [...proof].reverse().join('').replace(/^=+/, '');
  return credentials.line(reversed.padEnd(proof.length, 'A'));
}

function prependLine(request: AttackRequest, [name, value]: HeaderLine): AttackRequest {
  const own = request.headers.filter(([each]) => each.toLowerCase() === name.toLowerCase());
  return { ...request, headers: [...removeLines(request.headers, name), [name, value], ...own] };
}

/** Fields that count only from a trusted proxy. */
const proxyFields: readonly HeaderLine[] = [
  ['X-Forwarded-Proto', 'https'],
  ['Forwarded', 'for=127.0.0.1;proto=https'],
  ['X-Forwarded-Ssl', 'on'],
  ['Front-End-Https', 'on'],
];

function* sendOverPlainHttp(forger: Forger): Generator<Attempt> {
  const why = 'Everyone on the path can read the credentials, so they must be refused here.';
  const clear = { id: 'clear-text', expected: inTheClear, needs: 'plain' } as const;
  const name = 'the credentials are sent over plain HTTP';
  yield attempt({ name, why, ...clear, requests: [forger.signGood()] });
  for (const [field, value] of proxyFields) {
    const request = replaceLine(forger.signGood(), [field, value]);
    const untrusted = `${field} counts only from a trusted proxy.`;
    yield attempt({
      name: `${name}, and ${field} claims TLS`,
      why: untrusted,
      ...clear,
      requests: [request],
    });
  }
}
