import type { Scheme } from '../auth/scheme.ts';
import type { Route } from '../router.ts';
import type { OAuthParts } from './parts.ts';

/** What a mechanism adds to a service. */
export interface Mechanics {
  readonly schemes: readonly Scheme[];
  readonly routes: readonly Route[];
}

/** OAuth 2.0: its endpoints, and bearer tokens at the resources. */
export function createOAuth2(_parts: OAuthParts): Mechanics {
  return { schemes: [], routes: [] };
}
