/** The streaming XML parser and the writer. */
export { copyString } from './copy-string.ts';
export { XmlError } from './error.ts';
export type { XmlHandler, XmlParserOptions } from './handler.ts';
export { createParser, type XmlParser } from './parser.ts';
export { createWriter, XmlWriteError, type XmlWriter } from './writer.ts';
