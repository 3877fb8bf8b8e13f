import { createVerify, type Verify } from '../../auth/verify.ts';
import type { OAuthContext } from '../context.ts';
import type { SignedFor } from './checks.ts';
import { createReader, type OAuth1Presented, type Reader } from './presented.ts';
import { createOAuth1Signature } from './signature.ts';

/** Reads and verifies the signed requests for one purpose. */
export interface SignedRequests {
  readonly reader: Reader;
  readonly verifier: Verify<OAuth1Presented>;
}

/** Creates the reading and the verification for a purpose. */
export function createSignedRequests(signedFor: SignedFor, context: OAuthContext): SignedRequests {
  const reader = createReader(signedFor, context);
  return { reader, verifier: createVerify(createOAuth1Signature(signedFor, reader, context), context) };
}
