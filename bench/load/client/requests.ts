/** The requests of the load test, as they stand on the wire; whoever signs is no part of what is measured. */
import { createHmac, randomBytes } from 'node:crypto';

/** Requests to be sent to a server. */
export interface Requests {
  /** What each reply has to be. */
  readonly status: number;
  /** Each may be sent only once; otherwise a few go round. */
  readonly once: boolean;
  /** Makes so many; `time` is when they are sent, in ms since 1970-01-01T00:00:00Z. */
  make(count: number, time: number): string[];
}

/** The one user. */
export const user = 'demo';
export const secret = 'KZ4pT2mQv8sWx1Rb6nYc3dFg7hJk9LzE';
export const password = 'correct horse battery staple';
/** The article that is sent. */
export const articleXml =
  '<article><title>The Old Man and the Sea</title><price currency="EUR">12.30</price></article>';
export const articleJson = '{"title":"The Old Man and the Sea","price":{"value":"12.30","currency":"EUR"}}';

type Method = 'GET' | 'POST' | 'PUT';

interface Content {
  readonly type: string;
  readonly text: string;
}
const xml: Content = { type: 'application/xml', text: articleXml };
const json: Content = { type: 'application/json', text: articleJson };

function written(method: Method, target: string, lines: readonly string[], content?: Content): string {
  const sent =
    content === undefined
      ? []
      : [`Content-Type: ${content.type}`, `Content-Length: ${Buffer.byteLength(content.text)}`];
  return `${[`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...lines, ...sent].join('\r\n')}\r\n\r\n${content?.text ?? ''}`;
}

/** The same request over and over. */
export function plain(
  method: Method,
  target: string,
  status: number,
  lines: readonly string[] = [],
  content?: 'xml' | 'json',
): Requests {
  const request = written(method, target, lines, content && { xml, json }[content]);
  return { status, once: false, make: () => [request] };
}

/** Signed in the simple form: VERB+TARGET. */
export function signedSimply(target: string): Requests {
  const digest = hmac(secret, `GET+${target}`);
  return plain('GET', target, 200, [`Authentication: hmac ${user}:${digest}`]);
}

/** Signed in the full form, each with a nonce of its own. */
export function signed(
  method: Method,
  target: string,
  status: number,
  { content, key = secret, lines = [] }: { content?: 'xml'; key?: string; lines?: readonly string[] } = {},
): Requests {
  const body = content && { xml }[content];
  return {
    status,
    once: true,
    make(count, time) {
      const date = new Date(time).toUTCString();
      const stamp = date.replaceAll(' ', '');
      const run = randomBytes(6).toString('hex');
      return Array.from({ length: count }, (_, number) => {
        const nonce = `${run}${number.toString(36)}`;
        const digest = hmac(key, `${method}+${target}+${stamp}+${nonce}`);
        const fields = [`Date: ${date}`, `Authentication: hmac ${user}:${nonce}:${digest}`, ...lines];
        return written(method, target, fields, body);
      });
    },
  };
}

/** The first of what others make, over and over: all but the first one are replays. */
export function replayed(requests: Requests): Requests {
  return { ...goingRound(requests, 1), status: 401 };
}

/** Signed with another secret: nothing of them is kept, so that some can go round. */
export function signedWrongly(target: string): Requests {
  return goingRound(signed('GET', target, 401, { key: 'another secret' }), 1000);
}

function goingRound({ status, make }: Requests, most: number): Requests {
  return { status, once: false, make: (count, time) => make(Math.min(count, most), time) };
}

/** Of random ones out of so many, each as it is made for its number. */
export function each(count: number, of: (number: number) => Requests): Requests {
  const { status, once } = of(1);
  /** So many different ones are enough. */
  const most = 1000;
  return {
    ...{ status, once },
    make(wanted, time) {
      const kinds = Array.from({ length: Math.min(most, wanted) }, () =>
        of(1 + Math.floor(Math.random() * count)),
      );
      const share = once ? Math.ceil(wanted / kinds.length) : 1;
      const made = kinds.map((kind) => kind.make(share, time));
      return Array.from({ length: share }, (_, at) => made.flatMap((requests) => requests[at] ?? [])).flat();
    },
  };
}

/** Signed as @hapi/hawk does it: MAC over a header of lines. */
export function signedByHawk(target: string, id: string, key: string): Requests {
  return {
    status: 200,
    once: true,
    make(count, time) {
      const ts = Math.floor(time / 1000);
      const run = randomBytes(6).toString('hex');
      return Array.from({ length: count }, (_, number) => {
        const nonce = `${run}${number.toString(36)}`;
        const mac = hmac(key, `hawk.1.header\n${ts}\n${nonce}\nGET\n${target}\n127.0.0.1\n80\n\n\n`);
        const value = `Hawk id="${id}", ts="${ts}", nonce="${nonce}", mac="${mac}"`;
        return written('GET', target, [`Authorization: ${value}`]);
      });
    },
  };
}

/** What signs as OAuth 1.0a does. */
export interface OAuth1Keys {
  readonly consumer: string;
  readonly consumerSecret: string;
  readonly token: string;
  readonly tokenSecret: string;
}

/** Signed as OAuth 1.0a does it (RFC 5849 §3.4), HMAC-SHA256, each with a nonce of its own. */
export function signedByOAuth1(origin: string, target: string, keys: OAuth1Keys): Requests {
  return {
    status: 200,
    once: true,
    make(count, time) {
      const run = randomBytes(6).toString('hex');
      return Array.from({ length: count }, (_, number) => {
        const value = oauth1Header('GET', `${origin}${target}`, keys, `${run}${number.toString(36)}`, time);
        return written('GET', target, [`Authorization: ${value}`]).replace(
          'Host: 127.0.0.1',
          `Host: ${new URL(origin).host}`,
        );
      });
    },
  };
}

/** The value of Authorization for one request without parameters of its own; `extra` are further `oauth_` parameters. */
export function oauth1Header(
  method: string,
  url: string,
  { consumer, consumerSecret, token, tokenSecret }: OAuth1Keys,
  nonce: string,
  time: number,
  extra: Readonly<Record<string, string>> = {},
): string {
  const parameters: Record<string, string> = {
    oauth_consumer_key: consumer,
    oauth_nonce: nonce,
    oauth_signature_method: 'HMAC-SHA256',
    oauth_timestamp: String(Math.floor(time / 1000)),
    ...(token !== '' && { oauth_token: token }),
    ...extra,
  };
  const listed = Object.entries(parameters)
    .map(([name, value]) => `${name}=${percentEncoded(value)}`)
    .sort()
    .join('&');
  const base = [method, percentEncoded(url), percentEncoded(listed)].join('&');
  const key = `${percentEncoded(consumerSecret)}&${percentEncoded(tokenSecret)}`;
  const all = { ...parameters, oauth_signature: hmac(key, base) };
  return `OAuth ${Object.entries(all)
    .map(([name, value]) => `${name}="${percentEncoded(value)}"`)
    .join(', ')}`;
}

function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: string, message: string): string {
  return createHmac('sha256', key).update(message).digest('base64');
}

/** The value of Authorization for Basic. */
export function basicHeader(name = user, word = password): string {
  return `Basic ${Buffer.from(`${name}:${word}`).toString('base64')}`;
}
