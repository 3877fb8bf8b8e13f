/** The methods that collections implement, in the order of `Allow`. */
export const methods = ['HEAD', 'GET', 'PUT', 'POST', 'DELETE', 'OPTIONS'] as const;

/** A method that collections implement. */
export type HttpMethod = (typeof methods)[number];

/** Returns whether the method is one that collections implement; methods are case-sensitive (RFC 9110 §9.1). */
export function isMethod(token: string): token is HttpMethod {
  return methods.some((method) => method === token);
}

/** Returns whether the method is one of the safe ones that this server knows (RFC 9110 §9.2.1). Any other may change something. */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
