import type { Attempt } from '../../attempt.ts';
import type { Forger } from '../../forger.ts';
import { apiKeyAttempts } from './api-key.ts';
import { aws4Attempts } from './aws4.ts';
import { listDeclaredAttempts } from './declared.ts';
import { messageSignatureAttempts } from './message-signatures.ts';

/** The attempts of schemes that need a configuration. */
export function schemeAttempts(forger: Forger): Iterable<Attempt> {
  const scheme = forger.signing?.scheme;
  switch (scheme?.kind) {
    case 'message-signatures':
      return messageSignatureAttempts(forger, scheme.options);
    case 'aws4':
      return aws4Attempts(forger, scheme.options);
    case 'declared':
      return listDeclaredAttempts(forger, scheme.options);
    case 'api-key':
      return apiKeyAttempts(forger, scheme.options);
    default:
      return [];
  }
}
