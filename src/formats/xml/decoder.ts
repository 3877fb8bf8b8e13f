import { Problem } from '../../http/problem.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import type { Shape } from '../../schema/schema.ts';
import { XmlError } from '../../xml/error.ts';
import type { XmlNames } from '../../xml/names.ts';
import { createParser } from '../../xml/parser.ts';
import type { ItemDecoder } from '../item-decoder.ts';
import { ValidationErrors } from '../validation-errors.ts';
import { XmlContent } from './content.ts';

/** How an XML document of a client is read. */
export interface XmlReadingOptions {
  /** Whether the item's required fields may be left out. */
  readonly partial: boolean;
  /** How many elements may be open at once. */
  readonly maxDepth: number;
  /** How many attributes an element may have. */
  readonly maxAttributes: number;
  /** How long a tag or a value may be; the parser's own limits when left out. */
  readonly maxLength?: number;
  /** Names that the parsers of many documents share, which makes short documents cheaper. */
  readonly names?: XmlNames;
}

/**
 * Decodes an item written in XML, while its bytes arrive. Throws `xml-malformed` or `doctype-refused` with line and
 * column for what is not well-formed, `unsupported-charset` for another encoding than UTF-8, and, only at the end,
 * `invalid-content` with every fault, up to 20.
 */
export function xmlDecoder(shape: Shape, options: XmlReadingOptions): ItemDecoder {
  const { partial, maxDepth, maxAttributes, maxLength, names } = options;
  const faults = new ValidationErrors();
  const content = new XmlContent(shape, partial, faults, () => parser.position());
  const parser = createParser(content, {
    maxDepth,
    maxAttributes,
    maxValue: maxLength,
    maxToken: maxLength,
    names,
  });
  return {
    write: (bytes) => wellFormed(() => parser.write(bytes)),
    end() {
      wellFormed(() => parser.end());
      const problem = faults.problem();
      if (problem !== undefined) throw problem;
      return content.value();
    },
  };
}

function wellFormed(read: () => void): void {
  try {
    read();
  } catch (error) {
    throw error instanceof XmlError ? refusal(error) : error;
  }
}

function refusal({ code, message, line, column, encoding }: XmlError): Problem {
  if (code === 'encoding') {
    const members = { encoding: encoding ?? 'unknown', line, column };
    return new Problem('unsupported-charset', `${message}.`, { members });
  }
  return new Problem(typeOf(code), `${message}.`, { members: { line, column } });
}

function typeOf(code: XmlError['code']): ProblemType {
  if (code === 'doctype') return 'doctype-refused';
  return code.startsWith('limit-') ? 'limit-exceeded' : 'xml-malformed';
}
