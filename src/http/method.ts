/** The methods that this server has, in the order in which `Allow` lists them. */
export const methods = ['HEAD', 'GET', 'PUT', 'POST', 'DELETE', 'OPTIONS'] as const;

/** One of the six. */
export type Method = (typeof methods)[number];

/** Whether `token` is one of the six; methods are case-sensitive (RFC 9110 §9.1). */
export function isMethod(token: string): token is Method {
  return methods.some((method) => method === token);
}

/** Whether the method only reads (RFC 9110 §9.2.1). */
export function isSafe(method: Method): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
