/** JSON (RFC 8259) as a collection reads and writes it. */
export { type JsonReadingOptions, jsonDecoder } from './json-decoder.ts';
export { listFormJson, writeItemJson, writeListedJson } from './json-writer.ts';
