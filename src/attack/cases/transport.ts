import {
  type AttackRequest,
  appendLines,
  type Case,
  group,
  type HeaderLine,
  inTheClear,
  malformed,
  type Row,
  removeLines,
  replaceLine,
} from '../attempt.ts';
import type { Forger } from '../forger.ts';

/** Good credentials that are ambiguous, or sent over plain HTTP. */
export function* transportCases(forger: Forger): Generator<Case> {
  const why = 'It is ambiguous which credentials count: a proxy may have verified the others.';
  yield* group({ id: 'repeated-field', why, expected: malformed }, duplicateCredentials(forger));
  if (forger.needs === 'tls') yield* sendOverPlainHttp(forger);
}

/** The Basic credentials `nobody:nothing`. */
const wrongBasic = 'bm9ib2R5Om5vdGhpbmc=';

function* duplicateCredentials(forger: Forger): Generator<Row> {
  const line = forger.credentials(forger.signGood());
  if (line === undefined || forger.traits?.place.isList === true) return;
  const good = forger.signGood();
  const badLine = (): HeaderLine => corruptCredentials(forger) ?? line;
  yield ['the credentials occur twice', appendLines(good, forger.credentials(good) ?? line)];
  yield ['bad credentials follow the good ones', appendLines(forger.signGood(), badLine())];
  yield ['bad credentials precede the good ones', prependLine(forger.signGood(), badLine())];
  if (line[0] !== 'Authentication') return;
  const both = forger.signGood();
  const copied = appendLines(both, ['Authorization', forger.credentials(both)?.[1] ?? '']);
  yield ['the credentials are in Authentication and in Authorization', copied];
  const others = appendLines(forger.signGood(), ['Authorization', `Basic ${wrongBasic}`]);
  yield ['there is also a password in Authorization', others];
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

function sendOverPlainHttp(forger: Forger): Generator<Case> {
  const why = 'Everyone on the path can read the credentials, so they must be refused here.';
  const name = 'the credentials are sent over plain HTTP';
  const claims = proxyFields.map((line): Row => {
    const untrusted = `${line[0]} counts only from a trusted proxy.`;
    const request = replaceLine(forger.signGood(), line);
    return [`${name}, and ${line[0]} claims TLS`, request, { why: untrusted }];
  });
  const rows: readonly Row[] = [[name, forger.signGood()], ...claims];
  return group({ id: 'clear-text', why, expected: inTheClear, needs: 'plain' }, rows);
}
