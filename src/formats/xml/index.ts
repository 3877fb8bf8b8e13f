/** Reads and writes items as XML. */
export { type XmlReadingOptions, xmlDecoder } from './decoder.ts';
export { listFormXml, writeItemXml, writeListedXml } from './writer.ts';
