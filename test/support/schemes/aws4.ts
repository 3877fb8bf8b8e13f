import {
  computeHash,
  computeHmac,
  escaped,
  type Line,
  type Mistake,
  type PlainRequest,
  type Sign,
  signable,
  toBytes,
} from './signer.ts';

/** A mistake in what only this scheme has. */
export interface Aws4Mistake extends Mistake {
  /** Changes the lines of the signed headers. */
  readonly headers?: (text: string) => string;
  /** Changes the list of the signed headers in the canonical request, or also as it is sent. */
  readonly signedHeaders?: (list: string) => string;
  readonly listed?: (list: string) => string;
  readonly canonical?: (text: string) => string;
  readonly toSign?: (text: string, canonical: string) => string;
  readonly scope?: (scope: string) => string;
  /** The steps of the derivation of the key: the secret, day, region, service and end. */
  readonly derived?: (secret: string, steps: readonly string[]) => string | Buffer;
  /** Changes the credentials as sent. */
  readonly credential?: (text: string) => string;
}

interface Aws4Client {
  readonly region: string;
  readonly service: string;
  /** Seconds for which a presigned URL is valid. Without it, the signature is in Authorization. */
  readonly presign?: number;
  /** Returns the access key id of a user. Default: the user's name. */
  readonly createKeyId?: (user: string) => string;
}

/** Returns the query in canonical form: decoded, encoded, sorted by name and then by value. */
function canonicalQuery(query: string): string {
  const pairs = query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', value = ''] = pair.split(/=(.*)/s, 2);
      return [name, value].map((text) => escaped(decodeURIComponent(text)));
    });
  const compare = (one = '', other = ''): number => (one < other ? -1 : one > other ? 1 : 0);
  pairs.sort((one, other) => compare(one[0], other[0]) || compare(one[1], other[1]));
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}

/** Returns the path with its escapes encoded again, without dot segments and repeated slashes. */
function canonicalPath(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else kept.push(escaped(segment));
  }
  return `/${kept.join('/')}${path.endsWith('/') && kept.length > 0 ? '/' : ''}`;
}

function formatStamp(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d{3}/g, '');
}

export const chain = (first: string | Buffer, ...steps: readonly string[]): string | Buffer =>
  steps.reduce<string | Buffer>((key, step) => computeHmac('sha256', key, step), first);

/** Signs with AWS Signature Version 4, in Authorization or in the query. */
export function aws4Signer(client: Aws4Client): Sign {
  const { region, service, presign, createKeyId = (user) => user } = client;
  return (request, identity, mistake: Aws4Mistake = {}) => {
    const usualStamp = formatStamp(identity.now);
    const stamp = mistake.time?.(usualStamp, identity.now) ?? usualStamp;
    const user = createKeyId(mistake.user?.(identity.user) ?? identity.user);
    const day = usualStamp.slice(0, 8);
    const steps = [day, region, service, 'aws4_request'];
    const content = mistake.signedContent?.(request.content ?? '') ?? request.content ?? '';
    const digest = mistake.sentDigest?.(content) ?? computeHash('sha256', content).toString('hex');
    const dated: Line[] = presign === undefined ? [['X-Amz-Date', stamp]] : [];
    const isHashed = request.content !== undefined || service === 's3';
    const hashed: Line[] = presign === undefined && isHashed ? [['X-Amz-Content-Sha256', digest]] : [];
    const lines: Line[] = [['Host', request.host], ...request.lines, ...dated, ...hashed];
    const names = [...new Set(lines.map(([name]) => name.toLowerCase()))].sort();
    const listed = mistake.listed?.(names.join(';')) ?? names.join(';');
    const credential = `${user}/${steps.join('/')}`;
    const presigned =
      presign === undefined
        ? ''
        : [
            'X-Amz-Algorithm=AWS4-HMAC-SHA256',
            `X-Amz-Credential=${escaped(mistake.credential?.(credential) ?? credential)}`,
            `X-Amz-Date=${stamp}`,
            `X-Amz-Expires=${presign}`,
            `X-Amz-SignedHeaders=${escaped(listed)}`,
          ].join('&');
    const query = [request.query ?? '', presigned].filter((part) => part !== '').join('&');
    const own = {
      method: request.method,
      host: request.host,
      path: service === 's3' ? request.path : canonicalPath(request.path),
      mark: '',
      query: canonicalQuery(query),
      time: mistake.signedNow === undefined ? stamp : formatStamp(mistake.signedNow(identity.now)),
      field: lines
        .filter(([name]) => /^x-meta$/i.test(name))
        .map(([, value]) => value.trim().replace(/ +/g, ' '))
        .join(','),
      digest,
    };
    const { values } = signable(request, identity, own, mistake);
    const valueIn = (name: string): string => {
      if (name === 'host') return values.host ?? '';
      if (name === 'x-amz-date') return values.time ?? '';
      if (name === 'x-meta') return values.field ?? '';
      const all = lines.filter(([each]) => each.toLowerCase() === name);
      return all.map(([, value]) => value.trim().replace(/ +/g, ' ')).join(',');
    };
    const headers = names.map((name) => `${name}:${valueIn(name)}\n`).join('');
    const parts = [
      values.method,
      values.path,
      `${values.mark ?? ''}${values.query ?? ''}`,
      mistake.headers?.(headers) ?? headers,
      mistake.signedHeaders?.(names.join(';')) ?? listed,
      values.digest,
    ].filter((part) => part !== undefined);
    const canonical = mistake.canonical?.(parts.join('\n')) ?? parts.join('\n');
    const scope = mistake.scope?.(steps.join('/')) ?? steps.join('/');
    const lastParts = [
      'AWS4-HMAC-SHA256',
      values.time ?? '',
      scope,
      computeHash('sha256', canonical).toString('hex'),
    ];
    const text = lastParts.join('\n');
    const message = mistake.toSign?.(text, canonical) ?? mistake.message?.(text, lastParts) ?? text;
    const secret = mistake.key?.(identity.secret) ?? identity.secret;
    const first = Buffer.concat([Buffer.from('AWS4'), toBytes(secret)]);
    const key = toBytes(mistake.derived?.(identity.secret, steps) ?? chain(first, ...steps));
    const signature = mistake.sign?.(toBytes(message), key, 32) ?? computeHmac('sha256', key, message);
    const usual = signature.toString('hex');
    const written = mistake.encode?.(signature, usual) ?? usual;
    const sent = buildSent(request, lines, query, presign, {
      credential: mistake.credential?.(credential) ?? credential,
      listed,
      written,
    });
    return mistake.sent?.(sent) ?? sent;
  };
}

function buildSent(
  { method, path, secure, content, query: own }: PlainRequest,
  lines: readonly Line[],
  query: string,
  presign: number | undefined,
  { credential, listed, written }: { credential: string; listed: string; written: string },
) {
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${listed}, Signature=${written}`;
  const target = query === '' && own === undefined ? path : `${path}?${query}`;
  return {
    method,
    target: presign === undefined ? target : `${target}&X-Amz-Signature=${encodeURIComponent(written)}`,
    secure,
    lines: presign === undefined ? [...lines, ['Authorization', authorization] as const] : lines,
    content,
  };
}
