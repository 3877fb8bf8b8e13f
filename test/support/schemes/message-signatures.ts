import {
  computeHash,
  computeHmac,
  formatTarget,
  type Line,
  type Mistake,
  type Sign,
  signable,
  toBytes,
} from './signer.ts';

/** A mistake in what only this scheme has. */
export interface MessageSignaturesMistake extends Mistake {
  /** The covered components. */
  readonly components?: (components: readonly string[]) => readonly string[];
  /** Changes the parameters as sent and signed, or only as signed. */
  readonly params?: (params: string) => string;
  readonly signedParams?: (params: string) => string;
}

interface MessageSignaturesClient {
  /** Signs with a private key. Default: HMAC. */
  readonly sign?: (message: Buffer, privateKey: string) => Buffer;
  readonly nonce: boolean;
}

/** Signs with HTTP Message Signatures (RFC 9421). */
export function messageSignaturesSigner(client: MessageSignaturesClient): Sign {
  return (request, identity, mistake: MessageSignaturesMistake = {}) => {
    const { method, path, query, host, secure, content } = request;
    const protocol = secure ? 'https' : 'http';
    const user = mistake.user?.(identity.user) ?? identity.user;
    const nonce = mistake.nonce?.(identity.nonce) ?? identity.nonce;
    const usualTime = String(Math.floor(identity.now / 1000));
    const time = mistake.time?.(usualTime, identity.now) ?? usualTime;
    const signed = mistake.signedContent?.(content ?? '') ?? content ?? '';
    const usualDigest = `sha-256=:${computeHash('sha256', signed).toString('base64')}:`;
    const digest = content === undefined ? [] : [mistake.sentDigest?.(signed) ?? usualDigest];
    const added = digest.map((value): Line => ['Content-Digest', value]);
    const lines: Line[] = [['Host', host], ...request.lines, ...added];
    const fields = request.lines.map(([name]) => name.toLowerCase()).filter((name) => /^x-meta$/.test(name));
    const usual = [
      '@method',
      '@authority',
      '@path',
      '@query',
      ...new Set(fields),
      ...digest.map(() => 'content-digest'),
    ];
    const components = mistake.components?.(usual) ?? usual;
    const own = {
      method,
      protocol,
      host: host.toLowerCase().replace(secure ? /:443$/ : /:80$/, ''),
      path,
      mark: '?',
      query: query ?? '',
      time:
        mistake.signedNow === undefined ? time : String(Math.floor(mistake.signedNow(identity.now) / 1000)),
      ...(client.nonce ? { nonce } : {}),
      digest: digest[0],
      field: lines
        .filter(([name]) => /^x-meta$/i.test(name))
        .map(([, value]) => value.trim())
        .join(', '),
    };
    const { values } = signable(request, identity, own, mistake);
    const paramsWith = (created: string | undefined, once: string | undefined): string =>
      [
        `(${components.map((name) => `"${name}"`).join(' ')})`,
        ...(created === undefined ? [] : [`created=${created}`]),
        `keyid="${user}"`,
        ...(once === undefined ? [] : [`nonce="${once}"`]),
      ].join(';');
    const sentParams = paramsWith(
      time === '' ? undefined : time,
      client.nonce && nonce !== '' ? nonce : undefined,
    );
    const params = mistake.params?.(sentParams) ?? sentParams;
    const changed = values.time !== time || values.nonce !== own.nonce;
    const signedText = changed ? paramsWith(values.time, values.nonce) : params;
    const signedParams = mistake.signedParams?.(signedText) ?? signedText;
    const texts: Readonly<Record<string, string | undefined>> = {
      '@method': values.method,
      '@authority': values.host,
      '@path': values.path,
      '@query': values.query === undefined ? undefined : `${values.mark ?? ''}${values.query}`,
      '@scheme': protocol,
      '@target-uri': `${protocol}://${own.host}${formatTarget(request)}`,
      '@request-target': formatTarget(request),
      '@query-param";name="q': query?.replace('q=', ''),
      'content-digest': values.digest,
      'x-meta': values.field,
    };
    const base = [
      ...components.flatMap((name) => (texts[name] === undefined ? [] : [`"${name}": ${texts[name]}`])),
      `"@signature-params": ${signedParams}`,
    ];
    const message = mistake.message?.(base.join('\n'), base) ?? base.join('\n');
    const key = toBytes(mistake.key?.(identity.secret) ?? identity.secret);
    const signature =
      mistake.sign?.(toBytes(message), key, 32) ??
      client.sign?.(toBytes(message), identity.secret) ??
      computeHmac('sha256', key, message);
    const written = signature.toString('base64');
    const value = mistake.encode?.(signature, written) ?? written;
    const sent = {
      method,
      target: formatTarget(request),
      secure,
      lines: [
        ...lines,
        ['Signature-Input', `sig1=${params}`] as const,
        ['Signature', `sig1=:${value}:`] as const,
      ],
      content,
    };
    return mistake.sent?.(sent) ?? sent;
  };
}
