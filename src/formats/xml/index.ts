/** XML as a collection reads and writes it. */
export { type XmlReadingOptions, xmlDecoder } from './decoder.ts';
export { listFormXml, writeItemXml, writeListedXml } from './writer.ts';
