import { formatSignedDate } from '../../schemes/hmac/credentials.ts';
import {
  type AttackRequest,
  appendLines,
  type Case,
  type Group,
  group,
  malformed,
  type Row,
  refused,
  removeLines,
  replaceLine,
} from '../attempt.ts';
import { findCredentials } from '../credentials.ts';
import type { Forger } from '../forger.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Requests with a wrong date: too old, too new or ambiguous. Also replays. */
export function* freshnessCases(forger: Forger): Generator<Case> {
  if (forger.dated) {
    yield* changeTimes(forger);
    yield* otherTimeZone(forger);
    yield* dateFields(forger);
  }
  if (!forger.once) return;
  const why = 'A recorded request could be sent again.';
  yield* group({ id: 'replay', why, expected: refused }, replayRequests(forger));
}

function* changeTimes({ now, window, lifetime, signRequest }: Forger): Generator<Case> {
  const why =
    'A recorded request could be replayed later, and one with a future date could be kept until then.';
  const times: readonly (readonly [name: string, time: number])[] = [
    ['the date is a minute older than the window allows', now - lifetime - minute],
    ['the date is a minute further ahead than the window allows', now + window + minute],
    ['the date is a day old', now - lifetime - day],
    ['the date is a day ahead', now + window + day],
    ['the date is in 1970', 0],
    ['the date is in the year 9999', Date.UTC(9999, 11, 31)],
  ];
  const rows = times.map(([name, time]): Row => {
    return [name, signRequest({ date: time }), time > now ? { id: 'future-date' } : {}];
  });
  yield* group({ id: 'stale-date', why, expected: refused }, rows);
}

/** The present time with an offset, signed as sent. A server that ignores the offset reads another time. */
function otherTimeZone({ now, signRequest }: Forger): Generator<Case> {
  const why = 'The scheme has one date format, in UTC. Implementations could interpret others differently.';
  const date = `${formatSignedDate(now + 2 * hour)} +0200`;
  return group({ id: 'date-form', why, expected: malformed }, [
    ['the date is in another time zone', signRequest({ date })],
  ]);
}

/** The date field removed, changed or duplicated after signing. */
function* dateFields(forger: Forger): Generator<Case> {
  const { now, lifetime, signGood, signRequest, dateLine } = forger;
  const [field, today] = dateLine(signGood()) ?? ['', ''];
  const [, later] = dateLine(signRequest({ date: now + second }) ?? signGood()) ?? ['', ''];
  if (field === '') return;
  const stale = [0, 1].map(() => signRequest({ date: now - lifetime - minute }));
  const [renewed, covered] = stale;
  const other = field === 'Date' ? 'X-Date' : 'Date';
  const changed = 'The date differs from the signed one.';
  yield* group({ id: 'unsigned-date', why: changed, expected: refused }, [
    [
      'there is no date',
      forger.undated(signGood()),
      { why: 'The date is signed, so it is required.', expected: malformed },
    ],
    ['the date is a second later than signed', replaceLine(signGood(), [field, later])],
    ['a stale request gets a fresh date', renewed && replaceLine(renewed, [field, today])],
    [
      `a stale request has a fresh ${other} beside its ${field}`,
      covered && appendLines(covered, [other, today]),
      { why: 'The signed date counts.' },
    ],
  ]);
  const twice = 'It is ambiguous which of two lines counts (RFC 9110 §5.3).';
  yield* group({ id: 'repeated-field', why: twice, expected: malformed }, [
    ['the date occurs twice', appendLines(signGood(), [field, today])],
    ['there is a second, later date', appendLines(signGood(), [field, later])],
  ]);
}

/** Good requests that are sent again. */
function* replayRequests(forger: Forger): Generator<Row> {
  const [first, second, third] = [forger.signGood(), forger.signGood(), forger.signGood()];
  yield ['the request is sent again on the same connection', [first, first]];
  yield ['the request is sent again on another connection', [second, second], { anotherConnection: true }];
  yield ['the request is sent again after another one', [third, forger.signGood(), third]];
  const good = forger.signGood();
  const [field, value] = findCredentials(good) ?? ['', ''];
  // The same credentials in the other field that may contain them.
  if (field === 'Authentication') {
    const moved = appendLines({ ...good, headers: removeLines(good.headers, field) }, [
      'Authorization',
      value,
    ]);
    yield ['the request is sent again with its credentials in Authorization', [good, moved]];
  }
  const nonce = forger.nonce();
  const before = forger.signRequest({ nonce });
  const after = forger.signRequest({ nonce, date: forger.now + 1000 });
  // In OAuth 1.0a a nonce is unique for its timestamp (RFC 5849 §3.3).
  if (before !== undefined && after !== undefined && forger.hasNonce && forger.dated && !isOAuth1(before)) {
    const why = 'A nonce is valid once. Otherwise a client that can set the date can reuse it.';
    yield ['the nonce is sent again under a new date', [before, after], { id: 'nonce-reuse', why }];
  }
  yield* encodeNonces(forger);
}

/** The nonce in another spelling than signed, if it occurs literally in a field. */
function* encodeNonces(forger: Forger): Generator<Row> {
  const encode = (nonce: string): string => nonce.replace('-', '%2D');
  const encoded = spellNonce(forger, encode);
  const again = spellNonce(forger, encode);
  const capital = spellNonce(forger, (nonce) => nonce.toUpperCase());
  const another = spellNonce(forger, () => forger.nonce());
  if (encoded === undefined || again === undefined || capital === undefined || another === undefined) return;
  const why = 'A nonce with two spellings can be used twice.';
  const spelt: Partial<Group> = { id: 'nonce-reuse', why, expected: malformed };
  // In OAuth 1.0a every value is percent-encoded (RFC 5849 §3.5.1), so that alone is no error there.
  if (!isOAuth1(encoded.request)) yield ['the nonce is percent-encoded', encoded.request, spelt];
  yield ['the request is sent again with its nonce percent-encoded', [again.good, again.request], spelt];
  yield ['the nonce is in capitals', capital.request, { id: 'nonce-reuse', why }];
  const signed = 'The nonce is signed, so that it cannot be replaced.';
  yield [
    'the nonce is another one than was signed',
    another.request,
    { id: 'changed-parameters', why: signed },
  ];
}

/** Returns a good request, and the same with another spelling of its nonce. Undefined if the nonce does not occur literally. */
function spellNonce(
  forger: Forger,
  spell: (nonce: string) => string,
): { good: AttackRequest; request: AttackRequest } | undefined {
  const nonce = forger.nonce();
  const good = forger.signRequest({ nonce });
  const line = good?.headers.find(([, value]) => value.includes(nonce));
  if (good === undefined || line === undefined) return undefined;
  return { good, request: replaceLine(good, [line[0], line[1].replace(nonce, spell(nonce))]) };
}

function isOAuth1(request: AttackRequest): boolean {
  return /^OAuth /i.test(findCredentials(request)?.[1] ?? '');
}
