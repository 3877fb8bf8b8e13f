import { XmlNames } from './names.ts';

/** What a parser tells; every part may be left out. A callback that throws ends the parsing. */
export interface XmlHandler {
  /** A start tag. Names are as written, the prefix included; attributes come in the order of the document. */
  startElement?(name: string, attributes: [name: string, value: string][]): void;
  /** An end tag, or the end of an empty element. */
  endElement?(name: string): void;
  /** Text, which may come in pieces; a CDATA section is text. */
  text?(data: string): void;
  comment?(data: string): void;
  /** An instruction other than the XML declaration. */
  processingInstruction?(target: string, data: string): void;
}

/** The limits of a parser, and what it checks. Sizes count UTF-16 units of the document as it was written. */
export interface XmlOptions {
  /** How many elements may be open at once; 32 if left out. */
  readonly maxDepth?: number | undefined;
  /** How many attributes a tag may have; 64 if left out. */
  readonly maxAttributes?: number | undefined;
  /** The length of a name, or of a reference; 1,024 if left out. */
  readonly maxName?: number | undefined;
  /** The length of an attribute's value; 65,536 if left out. */
  readonly maxValue?: number | undefined;
  /** The length of a whole tag, comment or instruction, and so what is kept of a document; 131,072 if left out. */
  readonly maxToken?: number | undefined;
  /** Whether prefixes must be declared, and the rest of Namespaces in XML 1.0; true if left out. */
  readonly namespaces?: boolean | undefined;
  /** Names seen by other parsers, to be shared: short documents are then read faster. Its own if left out. */
  readonly names?: XmlNames | undefined;
}

/** The options with nothing left out. */
export interface Limits {
  readonly maxDepth: number;
  readonly maxAttributes: number;
  readonly maxName: number;
  readonly maxValue: number;
  readonly maxToken: number;
  readonly namespaces: boolean;
  readonly names: XmlNames;
}

/** Fills in what was left out. */
export function limitsOf(options: XmlOptions): Limits {
  return {
    maxDepth: options.maxDepth ?? 32,
    maxAttributes: options.maxAttributes ?? 64,
    maxName: options.maxName ?? 1024,
    maxValue: options.maxValue ?? 65_536,
    maxToken: options.maxToken ?? 131_072,
    namespaces: options.namespaces ?? true,
    names: options.names ?? new XmlNames(),
  };
}
