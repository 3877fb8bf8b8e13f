import type { Mechanics } from './oauth2.ts';
import type { OAuthParts } from './parts.ts';

/** OAuth 1.0a: its endpoints, and signed requests at the resources. */
export function createOAuth1(_parts: OAuthParts): Mechanics {
  return { schemes: [], routes: [] };
}
