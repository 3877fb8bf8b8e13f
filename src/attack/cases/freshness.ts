import { formatDate } from '../../http/headers/date.ts';
import { formatSignedDate } from '../../signature/hmac.ts';
import {
  type Attempt,
  type AttemptParts,
  adding,
  attempt,
  malformed,
  type OutgoingRequest,
  refused,
  replacing,
  without,
} from '../attempt.ts';
import { credentialsOf, dateLineOf, type Forger, undated } from '../forger.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Requests at the wrong time: too old, too new, dated in a way that can be misread, or sent again. */
export function* freshnessAttempts(forge: Forger): Generator<Attempt> {
  if (forge.dated) {
    yield* wrongTimes(forge);
    yield* otherFormats(forge);
    yield* dateFields(forge);
  }
  if (forge.once) yield* replays(forge);
}

function* wrongTimes(forge: Forger): Generator<Attempt> {
  const { now, window } = forge;
  const times: readonly (readonly [name: string, time: number])[] = [
    ['the date is a minute older than the window allows', now - window - minute],
    ['the date is a minute further ahead than the window allows', now + window + minute],
    ['the date is a day old', now - window - day],
    ['the date is a day ahead', now + window + day],
    ['the date is of 1970', 0],
    ['the date is of the year 9999', Date.UTC(9999, 11, 31)],
  ];
  for (const [name, time] of times) {
    const request = forge.signed({ date: time });
    const why = 'Whoever finds an old request could send it, and one from the future can be kept until then.';
    if (request !== undefined)
      yield attempt({ name, why, expected: refused, needs: forge.needs, requests: [request] });
  }
}

/** The present time in formats that the scheme does not have, signed as written. */
function* otherFormats(forge: Forger): Generator<Attempt> {
  const { now } = forge;
  const texts: readonly (readonly [name: string, text: string])[] = [
    ['the date is in another zone', `${formatSignedDate(now + 2 * hour)} +0200`],
    ['the date has the name of a zone', `${formatSignedDate(now)} UTC`],
    ['the date is in the format of ISO 8601', `${new Date(now).toISOString().slice(0, 19)}Z`],
    ['the date is a number of seconds', String(Math.floor(now / second))],
    ['the date is an IMF-fixdate in another zone', formatDate(now + hour).replace('GMT', '+0100')],
    ['the date has a year of two digits', formatSignedDate(now).replace(/ \d\d(\d\d) /, ' $1 ')],
    ['the date has a 32nd day', formatSignedDate(now).replace(/^\d\d/, '32')],
  ];
  const why = 'The scheme writes a date in one way, in UTC: in any other, two readers can see two times.';
  const usual = new Set(forge.good().headers.map(([, value]) => value));
  for (const [name, text] of texts) {
    // What a good request has is the scheme's own format.
    const request = usual.has(text) ? undefined : forge.signed({ date: text });
    if (request !== undefined)
      yield attempt({ name, why, expected: malformed, needs: forge.needs, requests: [request] });
  }
}

/** The field of the date taken away, changed or doubled after signing. */
function* dateFields(forge: Forger): Generator<Attempt> {
  const [field, today] = dateLineOf(forge.good()) ?? ['', ''];
  const [, later] = dateLineOf(forge.signed({ date: forge.now + second }) ?? forge.good()) ?? ['', ''];
  if (field === '') return;
  const one = (
    name: string,
    why: string,
    expected: readonly number[],
    request: OutgoingRequest | undefined,
  ): Attempt[] =>
    request === undefined ? [] : [attempt({ name, why, expected, needs: forge.needs, requests: [request] })];

  yield* one('there is no date', 'It is signed, so it must be there.', malformed, undated(forge.good()));
  const changed = 'It is another one than was signed.';
  const postponed = replacing(forge.good(), [field, later]);
  yield* one('the date is a second later than signed', changed, refused, postponed);

  const stale = (): OutgoingRequest | undefined => forge.signed({ date: forge.now - forge.window - minute });
  const renewed = stale();
  const fresh = renewed && replacing(renewed, [field, today]);
  yield* one('a stale request has a fresh date put in', changed, refused, fresh);
  const other = field === 'Date' ? 'X-Date' : 'Date';
  const covered = stale();
  const hidden = covered && adding(covered, [other, today]);
  const signed = 'The one that was signed counts.';
  yield* one(`a stale request has a fresh ${other} beside its ${field}`, signed, refused, hidden);

  const twice = 'Which of two lines counts must not be a guess (RFC 9110 §5.3).';
  yield* one('the date stands there twice', twice, malformed, adding(forge.good(), [field, today]));
  yield* one('there is a second, later date', twice, malformed, adding(forge.good(), [field, later]));
}

/** Good requests that are sent a second time. */
function* replays(forge: Forger): Generator<Attempt> {
  const { needs } = forge;
  const why = 'Whoever has seen a request could send it again.';
  const replay = (
    name: string,
    requests: readonly OutgoingRequest[],
    more: Partial<AttemptParts> = {},
  ): Attempt => attempt({ name, why, expected: refused, needs, requests, ...more });

  const first = forge.good();
  yield replay('the request is sent again on the same connection', [first, first]);
  const second = forge.good();
  yield replay('the request is sent again on another connection', [second, second], {
    anotherConnection: true,
  });
  const third = forge.good();
  yield replay('the request is sent again after another one', [third, forge.good(), third]);
  yield* moving(forge, replay);

  const nonce = forge.nonce();
  const [before, after] = [forge.signed({ nonce }), forge.signed({ nonce, date: forge.now + 1000 })];
  // In OAuth 1.0a nonces count with their timestamps (RFC 5849 §3.3).
  if (before !== undefined && after !== undefined && forge.dated && !isOAuth1(before)) {
    const once = 'A nonce is good once; else who can set the date decides what is new.';
    yield replay('the nonce is sent again under a new date', [before, after], { why: once });
  }
  yield* encodedNonces(forge, replay);
}

/** The same credentials in the other field that takes them. */
function* moving(
  forge: Forger,
  replay: (name: string, requests: readonly OutgoingRequest[]) => Attempt,
): Generator<Attempt> {
  const good = forge.good();
  const [field, value] = credentialsOf(good) ?? ['', ''];
  if (field !== 'Authentication') return;
  const moved = adding({ ...good, headers: without(good.headers, field) }, ['Authorization', value]);
  yield replay('the request is sent again with its credentials in Authorization', [good, moved]);
}

/** Where the nonce stands in a field as it is, it is sent in another spelling than was signed. */
function* encodedNonces(
  forge: Forger,
  replay: (name: string, requests: readonly OutgoingRequest[], more?: Partial<AttemptParts>) => Attempt,
): Generator<Attempt> {
  const encoded = respelt(forge, (nonce) => nonce.replace('-', '%2D'));
  const again = respelt(forge, (nonce) => nonce.replace('-', '%2D'));
  const capital = respelt(forge, (nonce) => nonce.toUpperCase());
  const another = respelt(forge, () => forge.nonce());
  if (encoded === undefined || again === undefined || capital === undefined || another === undefined) return;
  const why = 'A nonce that can be spelt in two ways can be used twice.';
  // In OAuth 1.0a every value is percent-encoded (RFC 5849 §3.5.1), so that alone is no fault there.
  if (!isOAuth1(encoded.request))
    yield replay('the nonce is percent-encoded', [encoded.request], { why, expected: malformed });
  const both = [again.good, again.request];
  yield replay('the request is sent again with its nonce percent-encoded', both, {
    why,
    expected: malformed,
  });
  yield replay('the nonce is in capitals', [capital.request], { why });
  const signed = 'It is signed, so that nobody can put in a new one.';
  yield replay('the nonce is another one than was signed', [another.request], { why: signed });
}

/** A good request, and the same with another text where its nonce stood; undefined where it does not stand there. */
function respelt(
  forge: Forger,
  spell: (nonce: string) => string,
): { good: OutgoingRequest; request: OutgoingRequest } | undefined {
  const nonce = forge.nonce();
  const good = forge.signed({ nonce });
  const line = good?.headers.find(([, value]) => value.includes(nonce));
  if (good === undefined || line === undefined) return undefined;
  return { good, request: replacing(good, [line[0], line[1].replace(nonce, spell(nonce))]) };
}

function isOAuth1(request: OutgoingRequest): boolean {
  return /^OAuth /i.test(credentialsOf(request)?.[1] ?? '');
}
