import { Problem } from '../../http/problem.ts';
import type { ProblemType } from '../../http/problem-types.ts';
import type { Shape } from '../../schema/schema.ts';
import { XmlError } from '../../xml/error.ts';
import type { XmlNames } from '../../xml/names.ts';
import { createParser } from '../../xml/parser.ts';
import type { ItemDecoder } from '../item-decoder.ts';
import { ValidationErrors } from '../validation-errors.ts';
import { XmlContent } from './content.ts';

/** Options for reading XML from a client. */
export interface XmlReadingOptions {
  /** Whether the item's required fields may be omitted. */
  readonly partial: boolean;
  /** The maximum number of open elements. */
  readonly maxDepth: number;
  /** The maximum number of attributes of an element. */
  readonly maxAttributes: number;
  /** The maximum length of a tag and of a value. Default: the parser's limits. */
  readonly maxLength?: number | undefined;
  /** Whether Content-Type states the charset utf-8, which takes precedence over the XML declaration. Default: false. */
  readonly isUtf8?: boolean | undefined;
  /** A table of names that parsers share, which makes short documents faster. */
  readonly names?: XmlNames | undefined;
}

/**
 * Creates a streaming decoder for an item in XML. It throws `xml-malformed`, `doctype-refused` or
 * `limit-exceeded` with line and column, `unsupported-charset` for encodings other than UTF-8, and at the end
 * `invalid-content` with up to 20 errors.
 */
export function xmlDecoder(shape: Shape, options: XmlReadingOptions): ItemDecoder {
  const { partial, maxDepth, maxAttributes, maxLength, isUtf8, names } = options;
  const errors = new ValidationErrors();
  const content = new XmlContent(shape, partial, errors, () => parser.position());
  const parser = createParser(content, {
    maxDepth,
    maxAttributes,
    maxValue: maxLength,
    maxToken: maxLength,
    encoding: isUtf8 === true ? 'known' : 'marked',
    names,
  });
  return {
    write: (bytes) => withProblems(() => parser.write(bytes)),
    end() {
      withProblems(() => parser.end());
      const problem = errors.problem();
      if (problem !== undefined) throw problem;
      return content.value();
    },
  };
}

function withProblems(read: () => void): void {
  try {
    read();
  } catch (error) {
    throw error instanceof XmlError ? toProblem(error) : error;
  }
}

function toProblem({ code, message, line, column, encoding }: XmlError): Problem {
  if (code === 'encoding') {
    const members = { encoding: encoding ?? 'unknown', line, column };
    return new Problem('unsupported-charset', `${message}.`, { members });
  }
  return new Problem(chooseProblemType(code), `${message}.`, { members: { line, column } });
}

function chooseProblemType(code: XmlError['code']): ProblemType {
  if (code === 'doctype') return 'doctype-refused';
  return code.startsWith('limit-') ? 'limit-exceeded' : 'xml-malformed';
}
