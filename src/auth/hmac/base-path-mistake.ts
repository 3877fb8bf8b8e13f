import type { Request } from '../../http/message.ts';

/** Returns the target without the prefix that a proxy removes, which the client may have left out of the signature. */
export function basePathMistakes(
  target: string,
  { basePath }: Request,
): (readonly [hint: string, changed: string])[] {
  if (basePath === undefined) return [];
  const hint = `the prefix ${basePath}, which the proxy removes, was not signed: sign the target as the client sends it`;
  return [[hint, target.replace(basePath, '')]];
}
