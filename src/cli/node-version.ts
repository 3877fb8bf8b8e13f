/** The oldest supported release. Earlier ones end a header section at CR LF CR (CVE-2025-23167). */
const oldest = [20, 19, 2];

/**
 * Returns the error for an unsupported version of Node.js, or undefined if it is supported. This file must load in very old
 * releases, so it has no imports and no recent syntax.
 * @param version as in `process.version`, `v20.19.2`
 */
export function nodeVersionFault(version: string): string | undefined {
  const parts = version
    .replace(/^v/, '')
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  const differing = oldest.findIndex((part, at) => parts[at] !== part);
  if (differing === -1 || Number(parts[differing]) > Number(oldest[differing])) return undefined;
  return `Node.js ${oldest.join('.')} or newer is required; this is ${version}`;
}
