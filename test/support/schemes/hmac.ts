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

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

function formatDate(ms: number): string {
  const date = new Date(ms);
  const day = String(date.getUTCDate()).padStart(2, '0');
  return `${day} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()} ${date.toISOString().slice(11, 19)}`;
}

function formatDigest(content: string, { signedContent = (text) => text, sentDigest }: Mistake): string {
  const signed = signedContent(content);
  return sentDigest?.(signed) ?? `sha-256=:${computeHash('sha256', signed).toString('base64')}:`;
}

/** Signs as the scheme `hmac` describes: `VERB+TARGET+DATE+NONCE+DIGEST`, or `VERB+TARGET+DIGEST` in the simple form. */
export function hmacSigner(form: 'full' | 'simple'): Sign {
  return (request, identity, mistake: Mistake = {}) => {
    const { method, path, query, content, host, secure } = request;
    const user = mistake.user?.(identity.user) ?? identity.user;
    const nonce = mistake.nonce?.(identity.nonce) ?? identity.nonce;
    const date = mistake.time?.(formatDate(identity.now), identity.now) ?? formatDate(identity.now);
    const digest = content === undefined ? undefined : formatDigest(content, mistake);
    const signedDate = mistake.signedNow === undefined ? date : formatDate(mistake.signedNow(identity.now));
    const fresh = form === 'full' ? { time: signedDate.replaceAll(' ', ''), nonce } : {};
    const own = { method, path, mark: query === undefined ? '' : '?', query: query ?? '', ...fresh, digest };
    const { values } = signable(request, identity, own, mistake);
    const target = `${values.host ?? ''}${values.path ?? ''}${values.mark ?? ''}${values.query ?? ''}`;
    const parts = [
      values.method,
      target,
      values.time,
      values.nonce,
      values.user,
      values.digest,
      values.content,
    ].filter((part) => part !== undefined);
    const message = mistake.message?.(parts.join('+'), parts) ?? parts.join('+');
    const key = toBytes(mistake.key?.(identity.secret) ?? identity.secret);
    const signature = mistake.sign?.(toBytes(message), key, 32) ?? computeHmac('sha256', key, message);
    const usual = signature.toString('base64');
    const credentials = [
      user,
      ...(form === 'full' ? [nonce] : []),
      mistake.encode?.(signature, usual) ?? usual,
    ];
    const lines: Line[] = [
      ['Host', host],
      ...request.lines,
      ['Authentication', `hmac ${credentials.join(':')}`],
    ];
    if (form === 'full') lines.push(['Date', date]);
    if (digest !== undefined) lines.push(['Content-Digest', digest]);
    const sent = { method, target: formatTarget(request), secure, lines, content };
    return mistake.sent?.(sent) ?? sent;
  };
}
