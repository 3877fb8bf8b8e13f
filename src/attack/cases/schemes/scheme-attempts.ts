import type { Attempt } from '../../attempt.ts';
import type { Forger } from '../../forger.ts';
import { schemeOf } from '../../signers/schemes.ts';
import { apiKeyAttempts } from './api-key.ts';
import { aws4Attempts } from './aws4.ts';
import { declaredAttempts } from './declared.ts';
import { messageSignatureAttempts } from './message-signatures.ts';

/** The attempts of schemes that need a configuration. */
export function schemeAttempts(forger: Forger): Iterable<Attempt> {
  const scheme = schemeOf(forger.traits);
  switch (scheme?.kind) {
    case undefined:
      return [];
    case 'message-signatures':
      return messageSignatureAttempts(forger, scheme);
    case 'aws4':
      return aws4Attempts(forger, scheme);
    case 'declared':
      return declaredAttempts(forger, scheme);
    case 'api-key':
      return apiKeyAttempts(forger, scheme);
  }
}
