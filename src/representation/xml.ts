/** XML as a collection reads and writes it. */
export { type XmlReadingOptions, xmlDecoder } from './xml-decoder.ts';
export { listFormXml, writeItemXml, writeListedXml } from './xml-writer.ts';
