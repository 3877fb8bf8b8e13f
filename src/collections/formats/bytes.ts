import { decodeWhole } from '../../http/collected-bytes.ts';
import type { ContentReader } from '../../pipeline/resource.ts';

/** Reads content of any type as bytes, for resources in code. */
export const readBytes: ContentReader<unknown, Uint8Array> = {
  type: '*/*',
  anyCharset: true,
  // A resource may keep it, so it holds no spare memory.
  decoder: () => decodeWhole((bytes) => Buffer.from(bytes)),
};
