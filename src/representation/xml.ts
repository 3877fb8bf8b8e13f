/** XML as a collection reads and writes it. */
export { type XmlReadingOptions, xmlDecoder } from './xml-decoder.ts';
export { writeItemXml, writeListXml } from './xml-writer.ts';
