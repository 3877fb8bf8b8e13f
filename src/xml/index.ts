/** The streaming XML parser and the writer. */
export { copyString } from './copy-string.ts';
export { XmlError, type XmlErrorCode, type XmlErrorDetail } from './error.ts';
export type { XmlHandler, XmlParserOptions } from './handler.ts';
export { XmlNames } from './names.ts';
export { createParser, type XmlParser } from './parser.ts';
export {
  createWriter,
  escapeAttribute,
  escapeText,
  type XmlWriteCode,
  XmlWriteError,
  type XmlWriter,
} from './writer.ts';
