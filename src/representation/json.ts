/** JSON (RFC 8259) as a collection reads and writes it. */
export { type JsonReadingOptions, jsonDecoder } from './json-decoder.ts';
export { writeItemJson, writeListJson } from './json-writer.ts';
