import { isScope, type Scope, scopePattern } from '../principal.ts';
import { listOf, object, optional, type Shape, type ShapesOf, textLike } from '../shape/shape.ts';
import type { OAuth2Options } from './oauth2-options.ts';

function isScopeText(text: string): text is Scope {
  return isScope(text);
}

const scope = textLike(
  { pattern: scopePattern },
  isScopeText,
  () => 'is not a scope of printable ASCII characters without spaces',
);

/** Describes the options of OAuth 2.0. */
export const oauth2Shape: Shape<OAuth2Options> = object(
  {
    scopes: optional(listOf(scope, 'the scopes that exist, which clients and access rules can name')),
  } satisfies ShapesOf<OAuth2Options>,
  'OAuth 2.0',
);
