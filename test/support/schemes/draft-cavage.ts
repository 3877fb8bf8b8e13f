import {
  computeHash,
  computeHmac,
  fieldIn,
  formatTarget,
  type Line,
  type Mistake,
  type Sign,
  signable,
  toBytes,
  type Values,
} from './signer.ts';

/** Signs with a private key, by an algorithm of this name. */
interface PrivateKeySigning {
  readonly algorithm: string;
  readonly sign: (message: Buffer, privateKey: string) => Buffer;
}

/** Signs as draft-cavage-http-signatures-12 says. Default: with a shared secret. */
export function draftCavageSigner(field: 'Authorization' | 'Signature', signing?: PrivateKeySigning): Sign {
  return (request, identity, mistake: Mistake = {}) => {
    const { method, path, query, host, secure, content } = request;
    const user = mistake.user?.(identity.user) ?? identity.user;
    const now = new Date(identity.now).toUTCString();
    const time = mistake.time?.(now, identity.now) ?? now;
    const formatDigest = (text: string): string =>
      `SHA-256=${computeHash('sha256', text).toString('base64')}`;
    const signed = mistake.signedContent?.(content ?? '') ?? content ?? '';
    const digest = mistake.sentDigest?.(signed) ?? formatDigest(signed);
    const own: Values = {
      method: method.toLowerCase(),
      path,
      mark: query === undefined ? '' : '?',
      query: query ?? '',
      host,
      time: mistake.signedNow === undefined ? time : new Date(mistake.signedNow(identity.now)).toUTCString(),
      digest,
      field: fieldIn(request.lines, 'X-Meta') ?? '',
    };
    const { values } = signable(request, identity, own, mistake);
    const target = `${values.path ?? ''}${values.mark ?? ''}${values.query ?? ''}`;
    const covered = ['(request-target)', 'host', 'date'];
    const lines = [
      `(request-target): ${values.method} ${target}`,
      `host: ${values.host}`,
      `date: ${values.time}`,
    ];
    if (content !== undefined) {
      covered.push('digest');
      lines.push(`digest: ${values.digest}`);
    }
    const text = lines.join('\n');
    const message = mistake.message?.(text, lines) ?? text;
    const key = toBytes(mistake.key?.(identity.secret) ?? identity.secret);
    const signature =
      mistake.sign?.(toBytes(message), key, 32) ??
      signing?.sign(toBytes(message), identity.secret) ??
      computeHmac('sha256', key, toBytes(message));
    const usual = signature.toString('base64');
    const value = mistake.encode?.(signature, usual) ?? usual;
    const parameters = `keyId="${user}",algorithm="${signing?.algorithm ?? 'hmac-sha256'}",headers="${covered.join(' ')}",signature="${value}"`;
    const sent = {
      method,
      target: formatTarget(request),
      secure,
      lines: [
        ['Host', host],
        ...request.lines,
        ['Date', time],
        ...(content === undefined ? [] : ([['Digest', digest]] as const)),
        [field, field === 'Authorization' ? `Signature ${parameters}` : parameters],
      ] satisfies Line[],
      content,
    };
    return mistake.sent?.(sent) ?? sent;
  };
}
