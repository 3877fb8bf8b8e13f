/** The methods that this server implements, in the order of `Allow`. */
export const methods = ['HEAD', 'GET', 'PUT', 'POST', 'DELETE', 'OPTIONS'] as const;

/** A method that this server implements. */
export type Method = (typeof methods)[number];

/** Returns whether the server implements the method; methods are case-sensitive (RFC 9110 §9.1). */
export function isMethod(token: string): token is Method {
  return methods.some((method) => method === token);
}

/** Returns whether the method is safe (RFC 9110 §9.2.1). */
export function isSafe(method: Method): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
