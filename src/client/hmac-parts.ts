import { type Signed, withoutSpaces } from '../signature/hmac.ts';
import type { SignedPart } from './schemes/scheme-signer.ts';

/** Returns the parts of a message of the scheme `hmac`. */
export function hmacParts({ method, target, date, nonce, contentDigest }: Signed): readonly SignedPart[] {
  const parts: readonly (readonly [name: string, value: string | undefined])[] = [
    ['method', method],
    ['target', target],
    ['date', date === undefined ? undefined : withoutSpaces(date)],
    ['nonce', nonce],
    ['content digest', contentDigest],
  ];
  return parts.flatMap(([name, value], at): SignedPart[] => {
    if (value === undefined) return [];
    const part = { name, value };
    return at === 0 ? [part] : [{ name: '', value: '+' }, part];
  });
}
