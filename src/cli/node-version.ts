/**
 * Returns the error for an unsupported version of Node.js, or undefined if it is supported: 20.19.2 and later of that line,
 * as earlier ones end a header section at CR LF CR (CVE-2025-23167), and 22.2 and later, as 21.0 to 22.1 have no `zlib.crc32`.
 * This file must load in very old releases, so it has no imports and no recent syntax.
 * @param version as in `process.version`, `v20.19.2`
 */
export function nodeVersionFault(version: string): string | undefined {
  const parts = version.replace(/^v/, '').split('.').map(Number.parseFloat);
  const [major = 0, minor = 0, patch = 0] = parts;
  const oldest = major > 20 ? [22, 2, 0] : [20, 19, 2];
  const [needed, least = 0, fix = 0] = oldest;
  const isOlder = major !== needed ? major < Number(needed) : minor !== least ? minor < least : patch < fix;
  return isOlder ? `Node.js ${oldest.join('.')} or newer is required; this is ${version}` : undefined;
}
