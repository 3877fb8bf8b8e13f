import { XmlNames } from './names.ts';

/** The callbacks of a parser; all are optional. An exception that a callback throws ends the parsing. */
export interface XmlHandler {
  /** Called for a start tag. Names include their prefixes. Attributes are in document order. */
  startElement?(name: string, attributes: [name: string, value: string][]): void;
  /** Called for an end tag, and for the end of an empty-element tag. */
  endElement?(name: string): void;
  /** Called for text and the content of CDATA sections. One text may arrive in several calls. */
  text?(data: string): void;
  /** Called for a comment, with its text. */
  comment?(data: string): void;
  /** Called for a processing instruction other than the XML declaration. */
  processingInstruction?(target: string, data: string): void;
}

/** The options of a parser. Lengths are in UTF-16 units of the document as written. */
export interface XmlParserOptions {
  /** The maximum number of open elements. Default: 32. */
  readonly maxDepth?: number | undefined;
  /** The maximum number of attributes of a tag. Default: 64. */
  readonly maxAttributes?: number | undefined;
  /** The maximum length of a name or of a reference. Default: 1,024. */
  readonly maxName?: number | undefined;
  /** The maximum length of an attribute value. Default: 65,536. */
  readonly maxValue?: number | undefined;
  /**
   * The maximum length of a tag, comment or processing instruction, which limits the buffer. Default:
   * 131,072.
   */
  readonly maxToken?: number | undefined;
  /** Whether the parser enforces Namespaces in XML 1.0. Default: true. */
  readonly namespaces?: boolean | undefined;
  /**
   * What decides that the document is in UTF-8 (RFC 7303 §3): `declared`: its declaration must not contradict; `marked`: it is
   * ignored after a byte order mark; `known`: it is ignored, because a media type states the charset. Default: `declared`.
   */
  readonly encoding?: 'declared' | 'marked' | 'known' | undefined;
  /** A table of names to share between parsers, which makes short documents faster. Default: a new table. @internal */
  readonly names?: XmlNames | undefined;
}

/** The options with all defaults applied. */
export type Limits = {
  readonly [Name in keyof XmlParserOptions]-?: NonNullable<XmlParserOptions[Name]>;
};

/** Applies the defaults. */
export function readLimits(options: XmlParserOptions): Limits {
  return {
    maxDepth: options.maxDepth ?? 32,
    maxAttributes: options.maxAttributes ?? 64,
    maxName: options.maxName ?? 1024,
    maxValue: options.maxValue ?? 65_536,
    maxToken: options.maxToken ?? 131_072,
    namespaces: options.namespaces ?? true,
    encoding: options.encoding ?? 'declared',
    names: options.names ?? new XmlNames(),
  };
}
