import type { JwtMembers } from '../../jwt/jwt.ts';

/** Returns the thumbprint of the key to which claims bind a token (RFC 9449 §6.1); undefined if they bind it to none. */
export function boundKey({ cnf }: JwtMembers): string | undefined {
  const key: unknown = typeof cnf === 'object' && cnf !== null ? Reflect.get(cnf, 'jkt') : undefined;
  return typeof key === 'string' ? key : undefined;
}
