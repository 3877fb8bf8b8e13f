/** The requests of the load tests as bytes. Signing is not measured. */
import { createHmac, randomBytes } from 'node:crypto';

/** A source of requests for a server. */
export interface Requests {
  /** The expected status of every response. */
  readonly status: number;
  /** Whether each request may be sent only once; otherwise a few are repeated. */
  readonly once: boolean;
  /** Creates `count` requests that are sent at `time`, in milliseconds since the epoch. */
  make(count: number, time: number): string[];
}

/** The only user. */
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

/** Repeats the same request. */
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

/** Signs in the simple form: VERB+TARGET. */
export function signedSimply(target: string): Requests {
  const digest = hmac(secret, `GET+${target}`);
  return plain('GET', target, 200, [`Authentication: hmac ${user}:${digest}`]);
}

/** Signs in the full form, each request with its own nonce. */
export function signed(
  method: Method,
  target: string,
  status: number,
  {
    content,
    key = secret,
    lines = [],
  }: { content?: 'xml' | 'json'; key?: string; lines?: readonly string[] } = {},
): Requests {
  const body = content && { xml, json }[content];
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

/** Repeats the first request of another source: all but the first one are replays. */
export function replayed(requests: Requests): Requests {
  return { ...goingRound(requests, 1), status: 401 };
}

/** Signs with a wrong secret. The server stores nothing of such requests, so a few are repeated. */
export function signedWrongly(target: string): Requests {
  return goingRound(signed('GET', target, 401, { key: 'another secret' }), 1000);
}

function goingRound({ status, make }: Requests, most: number): Requests {
  return { status, once: false, make: (count, time) => make(Math.min(count, most), time) };
}

/** Creates requests for random numbers below `count`. */
export function each(count: number, of: (number: number) => Requests): Requests {
  const { status, once } = of(1);
  /** The maximum number of different requests. */
  const most = 1000;
  return {
    status,
    once,
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

/** Signs as @hapi/hawk does: a MAC over normalized lines. */
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

/** The credentials of an OAuth 1.0a request. */
export interface OAuth1Keys {
  readonly consumer: string;
  readonly consumerSecret: string;
  readonly token: string;
  readonly tokenSecret: string;
}

/** Signs with OAuth 1.0a (RFC 5849 §3.4) and HMAC-SHA256, each request with its own nonce. */
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

/** Returns the value of Authorization for a request without parameters; `extra` are further `oauth_` parameters. */
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

/** Returns the value of Authorization for Basic. */
export function basicHeader(name = user, word = password): string {
  return `Basic ${Buffer.from(`${name}:${word}`).toString('base64')}`;
}
