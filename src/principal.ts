/** An authenticated user or client. `undefined` stands for an anonymous one. */
export interface Principal {
  /** The name of the user, or the id of the client. */
  readonly name: string;
  /** The scheme that authenticated it: `hmac`. */
  readonly scheme: string;
  /** The roles of the user. Default: none. */
  readonly roles?: readonly string[];
  /** The rights that a token grants; undefined if the credentials were the principal's own. */
  readonly lent?: LentRights;
}

/**
 * What a token may be used for: `read` (GET, HEAD and OPTIONS), `write` (POST, PUT and DELETE), or a scope of `oauth2.scopes` or of a
 * partner's document.
 */
export type Scope = 'read' | 'write' | (string & Record<never, never>);

/** The scopes of every service, in canonical order. */
export const knownScopes: readonly ('read' | 'write')[] = ['read', 'write'];

/** Returns whether a scope is one that methods need. */
export function isKnownScope(scope: Scope): boolean {
  return knownScopes.some((known) => known === scope);
}

const scopeForm = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** The form of one scope in a JSON Schema (RFC 6749 §3.3). */
export const scopePattern = scopeForm.source;

/** Returns whether a text has the form of one scope. */
export function isScope(text: string): boolean {
  return scopeForm.test(text);
}

/** The rights that a token grants. */
interface LentRights {
  /** The client to which the token was issued. */
  readonly client: string;
  /** The scopes of the token. */
  readonly scopes: readonly Scope[];
  /** The users for whom a client acts on its own behalf, `*` for all; undefined if the token was issued for the principal. */
  readonly users: '*' | readonly string[] | undefined;
  /** The thumbprint of the key to which the token is bound (RFC 9449). Default: it is bound to none. */
  readonly key?: string | undefined;
}
