import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { isChallenge, verifies } from '../../../src/oauth/oauth2/pkce.ts';

const s256 = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

test('the worked example of RFC 7636 Appendix B is accepted', () => {
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
  assert.equal(isChallenge(challenge), true);
  assert.equal(verifies('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk', challenge), true);
  assert.equal(verifies('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl', challenge), false);
});

// RFC 7636 §4.1: 43 to 128 of ALPHA / DIGIT / "-" / "." / "_" / "~"
for (const [verifier, good] of [
  ['a'.repeat(42), false],
  ['a'.repeat(43), true],
  ['-._~'.repeat(32), true],
  ['a'.repeat(129), false],
  [`${'a'.repeat(43)} `, false],
  [`${'a'.repeat(43)}\n`, false],
  [`${'a'.repeat(43)}+`, false],
  [`${'a'.repeat(43)}é`, false],
] as const) {
  test(`the verifier ${JSON.stringify(verifier)} is ${good ? 'taken' : 'refused, although its digest fits'}`, () => {
    assert.equal(verifies(verifier, s256(verifier)), good);
  });
}
