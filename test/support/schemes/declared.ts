import {
  computeHash,
  computeHmac,
  fieldIn,
  formatTarget,
  type Line,
  type Mistake,
  type PlainRequest,
  type Sign,
  signable,
  toBytes,
  type Values,
} from './signer.ts';

/** Writes a signature into content. */
type Write = (content: string, signature: string) => string;

/** A declared scheme, as far as its client must know it. */
export interface DeclaredClient {
  /** The parts of the message, by the kinds of `Values` and others. Texts in quotes are literal. */
  readonly message: readonly string[];
  readonly hash?: string;
  readonly encoding?: 'hex' | 'base64' | 'base64url';
  /** Returns the key that a secret contains. Default: its characters. */
  readonly readKey?: (secret: string) => string | Buffer;
  /** The field, or the parameter of the query. */
  readonly signature: { readonly field: string } | { readonly query: string } | { readonly content: Write };
  /** Parameters of the query. */
  readonly userParameter?: string;
  readonly timeParameter?: string;
  readonly nonceParameter?: string;
  /** Writes the time and the nonce into the content. */
  readonly inContent?: (content: string, time: string, nonce: string) => string;
  /** Returns a further part of the message, which is computed from the content. */
  readonly computePart?: (name: string, content: string, values: Values) => string;
  /** Further lines, by the user. */
  readonly listLines?: (user: string) => readonly Line[];
  /** Signs the message. Default: HMAC. */
  readonly sign?: (message: Buffer, secret: string) => Buffer;
  /** Returns the value of the signature field. */
  readonly format?: (
    signature: string,
    time: string,
    named: { readonly user: string; readonly nonce: string },
  ) => string;
  readonly userField?: string;
  readonly timeField?: string;
  readonly formatTime?: (ms: number) => string;
  readonly nonceField?: string;
}

/** Returns the parameters of a form, decoded and sorted, as Twilio signs them. */
function sortedForm(content: string): string {
  const pairs = [...new URLSearchParams(content)].map(([name, value]) => name + value);
  return pairs.sort().join('');
}

/** Returns the parts of a message. Literal text is in quotes in the list. */
function listParts(list: readonly string[], values: Values, read: (name: string) => string): string[] {
  const whole = (value: string | undefined): string => value ?? '';
  const target = `${whole(values.path)}${whole(values.mark)}${whole(values.query)}`;
  const texts: Readonly<Record<string, string>> = {
    ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, whole(value)])),
    target,
    url: `${values.protocol === '' ? '' : `${values.protocol}://`}${whole(values.host)}${target}`,
  };
  return list.map((part) => (/^"/.test(part) ? part.slice(1, -1) : (texts[part] ?? read(part))));
}

/** Returns the parameters of the query with parts of the credentials. */
function formatParameters(
  { userParameter, timeParameter, nonceParameter }: DeclaredClient,
  { user, time, nonce }: { readonly user: string; readonly time: string; readonly nonce: string },
): string {
  const all = [
    [userParameter, user],
    [timeParameter, time],
    [nonceParameter, nonce],
  ] as const;
  return all
    .flatMap(([name, value]) => (name === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join('&');
}

/** Signs as a declaration of an HMAC scheme says. */
export function declaredSigner(client: DeclaredClient): Sign {
  const { hash = 'sha256', encoding = 'hex', format = (signature) => signature } = client;
  const formatTime = client.formatTime ?? ((ms) => String(Math.floor(ms / 1000)));
  return (plain, identity, mistake: Mistake = {}) => {
    const user = mistake.user?.(identity.user) ?? identity.user;
    const nonce = mistake.nonce?.(identity.nonce) ?? identity.nonce;
    const time = mistake.time?.(formatTime(identity.now), identity.now) ?? formatTime(identity.now);
    const given = { user, time, nonce };
    const parameters = formatParameters(client, given);
    const request: PlainRequest = {
      ...plain,
      ...(parameters === ''
        ? {}
        : { query: plain.query === undefined ? parameters : `${plain.query}&${parameters}` }),
      ...(client.inContent === undefined
        ? {}
        : { content: client.inContent(plain.content ?? '', time, nonce) }),
    };
    const { method, path, query, host, secure, content } = request;
    const signed = mistake.signedContent?.(content ?? '') ?? content ?? '';
    const own: Values = {
      method,
      protocol: secure ? 'https' : 'http',
      host,
      path,
      mark:
        query === undefined || !client.message.some((part) => part === 'target' || part === 'url') ? '' : '?',
      query: query ?? '',
      time: mistake.signedNow === undefined ? time : formatTime(mistake.signedNow(identity.now)),
      nonce,
      user,
      content: client.message.includes('form') ? sortedForm(signed) : signed,
      digest: mistake.sentDigest?.(signed) ?? computeHash('sha256', signed).toString('hex'),
      field: fieldIn(request.lines, 'X-Meta') ?? '',
    };
    const { values } = signable(request, identity, own, mistake);
    // The separator after a part that is left out is left out with it.
    const list = client.message.filter((part, at) => {
      const before = client.message[at - 1] ?? '';
      const isLeftOut = (name: string): boolean => name in own && values[name as keyof Values] === undefined;
      return !isLeftOut(part) && !(/^"/.test(part) && isLeftOut(before));
    });
    const pieces = listParts(list, values, (name) =>
      name === 'form'
        ? (values.content ?? '')
        : (client.computePart?.(name, values.content ?? '', values) ?? name),
    );
    const named = pieces.filter((_, at) => !/^"/.test(list[at] ?? ''));
    const text = pieces.join('');
    const message = mistake.message?.(text, named) ?? text;
    const raw = mistake.key?.(identity.secret) ?? client.readKey?.(identity.secret) ?? identity.secret;
    const key = toBytes(raw);
    const signature =
      mistake.sign?.(toBytes(message), key, computeHmac(hash, '', '').length) ??
      client.sign?.(toBytes(message), identity.secret) ??
      computeHmac(hash, key, message);
    const usual = signature.toString(encoding);
    const value = format(mistake.encode?.(signature, usual) ?? usual, time, { user, nonce });
    const target = formatTarget(request);
    const lines: Line[] = [['Host', host], ...request.lines, ...(client.listLines?.(user) ?? [])];
    if (client.userField !== undefined) lines.push([client.userField, user]);
    if (client.timeField !== undefined) lines.push([client.timeField, time]);
    if (client.nonceField !== undefined) lines.push([client.nonceField, nonce]);
    if ('field' in client.signature) lines.push([client.signature.field, value]);
    const pair = 'query' in client.signature ? `${client.signature.query}=${encodeURIComponent(value)}` : '';
    const sent = {
      method,
      target: pair === '' ? target : `${target}${target.includes('?') ? '&' : '?'}${pair}`,
      secure,
      lines,
      content: 'content' in client.signature ? client.signature.content(content ?? '', value) : content,
    };
    return mistake.sent?.(sent) ?? sent;
  };
}
