/** JSON (RFC 8259) as a collection reads and writes it. */
export { type JsonReadingOptions, jsonDecoder } from './decoder.ts';
export { listFormJson, writeItemJson, writeListedJson } from './writer.ts';
