import { formatSignedDate } from '../../signature/hmac.ts';
import {
  type AttackRequest,
  type Attempt,
  type AttemptParts,
  appendLines,
  attempt,
  malformed,
  refused,
  removeLines,
  replaceLine,
} from '../attempt.ts';
import { findCredentials } from '../credentials.ts';
import { type Forger, type Forgery, toAttempts } from '../forger.ts';
import type { WeaknessId } from '../weaknesses.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Requests with a wrong date: too old, too new or ambiguous. Also replays. */
export function* freshnessAttempts(forger: Forger): Generator<Attempt> {
  if (forger.dated) {
    yield* changeTimes(forger);
    yield* otherTimeZone(forger);
    yield* dateFields(forger);
  }
  if (forger.once) yield* replayRequests(forger);
}

function* changeTimes(forger: Forger): Generator<Attempt> {
  const { now, window, lifetime } = forger;
  const times: readonly (readonly [name: string, time: number])[] = [
    ['the date is a minute older than the window allows', now - lifetime - minute],
    ['the date is a minute further ahead than the window allows', now + window + minute],
    ['the date is a day old', now - lifetime - day],
    ['the date is a day ahead', now + window + day],
    ['the date is in 1970', 0],
    ['the date is in the year 9999', Date.UTC(9999, 11, 31)],
  ];
  for (const [name, time] of times) {
    const request = forger.signRequest({ date: time });
    const why =
      'A recorded request could be replayed later, and one with a future date could be kept until then.';
    const id = time > now ? 'future-date' : 'stale-date';
    if (request !== undefined)
      yield attempt({ id, name, why, expected: refused, needs: forger.needs, requests: [request] });
  }
}

/** The present time with an offset, signed as sent. A server that ignores the offset reads another time. */
function* otherTimeZone(forger: Forger): Generator<Attempt> {
  const request = forger.signRequest({ date: `${formatSignedDate(forger.now + 2 * hour)} +0200` });
  if (request === undefined) return;
  const why = 'The scheme has one date format, in UTC. Implementations could interpret others differently.';
  yield attempt({
    id: 'date-form',
    name: 'the date is in another time zone',
    why,
    expected: malformed,
    needs: forger.needs,
    requests: [request],
  });
}

/** The date field removed, changed or duplicated after signing. */
function* dateFields(forger: Forger): Generator<Attempt> {
  const [field, today] = forger.dateLine(forger.signGood()) ?? ['', ''];
  const [, later] = forger.dateLine(
    forger.signRequest({ date: forger.now + second }) ?? forger.signGood(),
  ) ?? ['', ''];
  if (field === '') return;
  const one = (id: WeaknessId, ...forgery: Forgery): Iterable<Attempt> => toAttempts(forger, id, [forgery]);

  yield* one(
    'unsigned-date',
    'there is no date',
    'The date is signed, so it is required.',
    malformed,
    forger.undated(forger.signGood()),
  );
  const changed = 'The date differs from the signed one.';
  const postponed = replaceLine(forger.signGood(), [field, later]);
  yield* one('unsigned-date', 'the date is a second later than signed', changed, refused, postponed);

  const signStale = (): AttackRequest | undefined =>
    forger.signRequest({ date: forger.now - forger.lifetime - minute });
  const renewed = signStale();
  const fresh = renewed && replaceLine(renewed, [field, today]);
  yield* one('unsigned-date', 'a stale request gets a fresh date', changed, refused, fresh);
  const other = field === 'Date' ? 'X-Date' : 'Date';
  const covered = signStale();
  const hidden = covered && appendLines(covered, [other, today]);
  const signed = 'The signed date counts.';
  yield* one(
    'unsigned-date',
    `a stale request has a fresh ${other} beside its ${field}`,
    signed,
    refused,
    hidden,
  );

  const twice = 'It is ambiguous which of two lines counts (RFC 9110 §5.3).';
  yield* one(
    'repeated-field',
    'the date occurs twice',
    twice,
    malformed,
    appendLines(forger.signGood(), [field, today]),
  );
  yield* one(
    'repeated-field',
    'there is a second, later date',
    twice,
    malformed,
    appendLines(forger.signGood(), [field, later]),
  );
}

/** Good requests that are sent again. */
function* replayRequests(forger: Forger): Generator<Attempt> {
  const { needs } = forger;
  const why = 'A recorded request could be sent again.';
  const replay = (
    name: string,
    requests: readonly AttackRequest[],
    more: Partial<AttemptParts> = {},
  ): Attempt => attempt({ id: 'replay', name, why, expected: refused, needs, requests, ...more });

  const first = forger.signGood();
  yield replay('the request is sent again on the same connection', [first, first]);
  const second = forger.signGood();
  yield replay('the request is sent again on another connection', [second, second], {
    anotherConnection: true,
  });
  const third = forger.signGood();
  yield replay('the request is sent again after another one', [third, forger.signGood(), third]);
  yield* moveCredentials(forger, replay);

  const nonce = forger.nonce();
  const [before, after] = [
    forger.signRequest({ nonce }),
    forger.signRequest({ nonce, date: forger.now + 1000 }),
  ];
  // In OAuth 1.0a a nonce is unique for its timestamp (RFC 5849 §3.3).
  if (before !== undefined && after !== undefined && forger.hasNonce && forger.dated && !isOAuth1(before)) {
    const once = 'A nonce is valid once. Otherwise a client that can set the date can reuse it.';
    yield replay('the nonce is sent again under a new date', [before, after], {
      id: 'nonce-reuse',
      why: once,
    });
  }
  yield* encodeNonces(forger, replay);
}

/** The same credentials in the other field that may contain them. */
function* moveCredentials(
  forger: Forger,
  replay: (name: string, requests: readonly AttackRequest[]) => Attempt,
): Generator<Attempt> {
  const good = forger.signGood();
  const [field, value] = findCredentials(good) ?? ['', ''];
  if (field !== 'Authentication') return;
  const moved = appendLines({ ...good, headers: removeLines(good.headers, field) }, ['Authorization', value]);
  yield replay('the request is sent again with its credentials in Authorization', [good, moved]);
}

/** The nonce in another spelling than signed, if it occurs literally in a field. */
function* encodeNonces(
  forger: Forger,
  replay: (name: string, requests: readonly AttackRequest[], more?: Partial<AttemptParts>) => Attempt,
): Generator<Attempt> {
  const encoded = spellNonce(forger, (nonce) => nonce.replace('-', '%2D'));
  const again = spellNonce(forger, (nonce) => nonce.replace('-', '%2D'));
  const capital = spellNonce(forger, (nonce) => nonce.toUpperCase());
  const another = spellNonce(forger, () => forger.nonce());
  if (encoded === undefined || again === undefined || capital === undefined || another === undefined) return;
  const id = 'nonce-reuse';
  const why = 'A nonce with two spellings can be used twice.';
  // In OAuth 1.0a every value is percent-encoded (RFC 5849 §3.5.1), so that alone is no error there.
  if (!isOAuth1(encoded.request))
    yield replay('the nonce is percent-encoded', [encoded.request], { id, why, expected: malformed });
  const both = [again.good, again.request];
  yield replay('the request is sent again with its nonce percent-encoded', both, {
    id,
    why,
    expected: malformed,
  });
  yield replay('the nonce is in capitals', [capital.request], { id, why });
  const signed = 'The nonce is signed, so that it cannot be replaced.';
  const changed = { id: 'changed-parameters', why: signed } as const;
  yield replay('the nonce is another one than was signed', [another.request], changed);
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
