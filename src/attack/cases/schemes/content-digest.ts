import { createHash } from 'node:crypto';
import { type AttackRequest, type Attempt, type HeaderLine, malformed } from '../../attempt.ts';
import { type Forger, type Forgery, toAttempts } from '../../forger.ts';
import { alterContent, contentBytes } from '../content.ts';

/** Signed digests that are no proof of the content, which was changed. */
export function* contentDigestAttempts(forger: Forger): Generator<Attempt> {
  yield* toAttempts(forger, digestForgeries(forger));
}

function* digestForgeries({ plain, resignRequest }: Forger): Generator<Forgery> {
  if (plain.body === undefined) return;
  const [content, altered] = [contentBytes(plain.body), alterContent(plain.body)];
  const signWith = (value: string, body: AttackRequest['body'] = altered): AttackRequest | undefined => {
    const line: HeaderLine = ['Content-Digest', value];
    return resignRequest({}, { ...plain, headers: [...plain.headers, line], body: body ?? altered });
  };
  const right = digest('sha-256', 'sha256', content);
  const weak = 'Insecure algorithms must not be used (RFC 9530 §5), so the content is unsigned.';
  yield ['Content-Digest is of MD5', weak, malformed, signWith(digest('md5', 'md5', content), content)];
  yield ['Content-Digest is of SHA-1', weak, malformed, signWith(digest('sha', 'sha1', content), content)];
  const unknown = 'A digest that cannot be compared proves nothing.';
  yield ['Content-Digest is of an unknown algorithm', unknown, malformed, signWith('x-none=:AAAA:')];
  yield ['Content-Digest is empty', unknown, malformed, signWith('')];
  const differs = 'The content differs from the signed digest.';
  yield ['Content-Digest is of other content, and signed', differs, malformed, signWith(right)];
  const both = `${right}, ${digest('sha-512', 'sha512', altered)}`;
  yield ['one of two digests is of other content', differs, malformed, signWith(both)];
}

function digest(name: string, algorithm: string, content: Uint8Array): string {
  return `${name}=:${createHash(algorithm).update(content).digest('base64')}:`;
}
