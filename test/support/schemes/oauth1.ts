import {
  computeHmac,
  escaped,
  fieldIn,
  formatTarget,
  type Line,
  type Mistake,
  type Sign,
  signable,
  toBytes,
} from './signer.ts';

/** A mistake in what only this scheme has. */
export interface OAuth1Mistake extends Mistake {
  /** Changes the key that is made of both secrets. */
  readonly keyText?: (consumer: string, token: string) => string;
  /** Changes the protocol parameters that are sent and signed. */
  readonly parameters?: (parameters: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
  /** Changes the pairs that are signed, encoded and sorted. */
  readonly pairs?: (pairs: readonly string[]) => readonly string[];
}

export interface OAuth1Client {
  readonly method: 'HMAC-SHA1' | 'RSA-SHA1' | 'PLAINTEXT';
  /** Signs with a private key. Default: HMAC. */
  readonly sign?: (message: Buffer, privateKey: string) => Buffer;
  /** Returns the token of a consumer, and its secret. */
  readonly findToken: (consumer: string) => readonly [token: string, secret: string];
}

/** Signs with OAuth 1.0a (RFC 5849 §3.4). The user is the consumer. */
export function oauth1Signer(client: OAuth1Client): Sign {
  return (request, identity, mistake: OAuth1Mistake = {}) => {
    const { method, path, query, host, secure, content } = request;
    const isForm = fieldIn(request.lines, 'Content-Type') === 'application/x-www-form-urlencoded';
    const [token, tokenSecret] = client.findToken(identity.user);
    const usualTime = String(Math.floor(identity.now / 1000));
    const all: Readonly<Record<string, string>> = {
      oauth_consumer_key: mistake.user?.(identity.user) ?? identity.user,
      oauth_token: token,
      oauth_signature_method: client.method,
      oauth_timestamp: mistake.time?.(usualTime, identity.now) ?? usualTime,
      oauth_nonce: mistake.nonce?.(identity.nonce) ?? identity.nonce,
    };
    const sentParameters = mistake.parameters?.(all) ?? all;
    const protocol = secure ? 'https' : 'http';
    const own = {
      method,
      protocol,
      host: host.toLowerCase().replace(secure ? /:443$/ : /:80$/, ''),
      path,
      query: query ?? '',
      time:
        mistake.signedNow === undefined
          ? sentParameters['oauth_timestamp']
          : String(Math.floor(mistake.signedNow(identity.now) / 1000)),
      nonce: sentParameters['oauth_nonce'],
      user: sentParameters['oauth_consumer_key'],
      content: isForm ? (mistake.signedContent?.(content ?? '') ?? content ?? '') : '',
    };
    const { values } = signable(request, identity, own, mistake);
    const signed = {
      ...sentParameters,
      oauth_timestamp: values.time,
      oauth_nonce: values.nonce,
      oauth_consumer_key: values.user,
    };
    const pairs = [
      ...Object.entries(signed).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      ),
      ...new URLSearchParams(values.query ?? ''),
      ...new URLSearchParams(values.content ?? ''),
    ].map(([name, value]) => `${escaped(name)}=${escaped(value)}`);
    pairs.sort();
    const uri = `${values.protocol === '' ? '' : `${values.protocol}://`}${values.host ?? ''}${values.path ?? ''}${values.mark ?? ''}`;
    const parts = [values.method ?? '', uri, (mistake.pairs?.(pairs) ?? pairs).join('&')];
    const base = parts.map(escaped).join('&');
    const message = mistake.message?.(base, parts) ?? base;
    const consumerSecret = mistake.key?.(identity.secret) ?? identity.secret;
    const usualKey = `${escaped(consumerSecret.toString())}&${escaped(tokenSecret)}`;
    const key = mistake.keyText?.(identity.secret, tokenSecret) ?? usualKey;
    const isPlain = client.method === 'PLAINTEXT';
    const signature =
      mistake.sign?.(toBytes(message), toBytes(key), 20) ??
      client.sign?.(toBytes(message), identity.secret) ??
      (isPlain ? toBytes(key) : computeHmac('sha1', key, message));
    const usual = signature.toString(isPlain ? 'utf8' : 'base64');
    const written = mistake.encode?.(signature, usual) ?? usual;
    const header = Object.entries({ ...sentParameters, oauth_signature: written })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${escaped(name)}="${escaped(value ?? '')}"`);
    const lines: Line[] = [['Host', host], ...request.lines, ['Authorization', `OAuth ${header.join(', ')}`]];
    const sent = { method, target: formatTarget(request), secure, lines, content };
    return mistake.sent?.(sent) ?? sent;
  };
}
