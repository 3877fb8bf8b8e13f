import { createHash } from 'node:crypto';
import { type AttackRequest, type Attempt, type HeaderLine, malformed } from '../../attempt.ts';
import { attemptsOf, type Forger, type Forgery } from '../../forger.ts';
import { alteredContent, contentBytes } from '../content.ts';

/** Signed digests that are no proof of the content, which was changed. */
export function* contentDigestAttempts(forger: Forger): Generator<Attempt> {
  yield* attemptsOf(forger, digestForgeries(forger));
}

function* digestForgeries({ plain, resigned }: Forger): Generator<Forgery> {
  if (plain.body === undefined) return;
  const [content, altered] = [contentBytes(plain.body), alteredContent(plain.body)];
  const signedWith = (value: string, body: AttackRequest['body'] = altered): AttackRequest | undefined => {
    const line: HeaderLine = ['Content-Digest', value];
    return resigned({}, { ...plain, headers: [...plain.headers, line], body: body ?? altered });
  };
  const right = digest('sha-256', 'sha256', content);
  const weak = 'Insecure algorithms must not be used (RFC 9530 §5), so the content is unsigned.';
  yield ['Content-Digest is of MD5', weak, malformed, signedWith(digest('md5', 'md5', content), content)];
  yield ['Content-Digest is of SHA-1', weak, malformed, signedWith(digest('sha', 'sha1', content), content)];
  const unknown = 'A digest that cannot be compared proves nothing.';
  yield ['Content-Digest is of an unknown algorithm', unknown, malformed, signedWith('x-none=:AAAA:')];
  yield ['Content-Digest is empty', unknown, malformed, signedWith('')];
  const differs = 'The content differs from the signed digest.';
  yield ['Content-Digest is of other content, and signed', differs, malformed, signedWith(right)];
  const both = `${right}, ${digest('sha-512', 'sha512', altered)}`;
  yield ['one of two digests is of other content', differs, malformed, signedWith(both)];
}

function digest(name: string, algorithm: string, content: Uint8Array): string {
  return `${name}=:${createHash(algorithm).update(content).digest('base64')}:`;
}
