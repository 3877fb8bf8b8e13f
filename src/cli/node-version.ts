/** The oldest supported release of Node.js 20: earlier ones end a header section at CR LF CR (CVE-2025-23167). */
const oldest = [20, 19, 2];

/**
 * Returns why this version of Node.js is too old to run the server, or undefined where it is supported. The syntax and the
 * imports of this file are those of the oldest releases, which must be able to load it.
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
