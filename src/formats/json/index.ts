/** Reads and writes items as JSON (RFC 8259). */
export { type JsonReadingOptions, jsonDecoder } from './decoder.ts';
export { listFormJson, writeItemJson, writeListedJson } from './writer.ts';
