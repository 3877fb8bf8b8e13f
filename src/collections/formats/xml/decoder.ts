import { Problem, unsupportedCharset } from '../../../http/problem.ts';
import type { ProblemType } from '../../../http/problem-types.ts';
import { XmlError } from '../../../xml/error.ts';
import { createParser } from '../../../xml/parser.ts';
import type { Shape } from '../../fields/schema.ts';
import type { ItemDecoder, ReadingOptions } from '../list-item.ts';
import { ValidationErrors } from '../validation-errors.ts';
import { XmlContent } from './content.ts';

/**
 * Creates a streaming decoder for an item in XML. It throws `xml-malformed`, `doctype-refused` or
 * `limit-exceeded` with line and column, `unsupported-charset` for encodings other than UTF-8, and at the end
 * `invalid-content` with up to 20 errors.
 */
export function xmlDecoder(shape: Shape, options: ReadingOptions): ItemDecoder {
  const { partial, maxDepth, maxAttributes, maxLength, charset, names } = options;
  const isUtf8 = charset?.toLowerCase() === 'utf-8';
  const checkMark = charset === undefined || isUtf8 ? undefined : createMarkCheck(charset);
  const errors = new ValidationErrors();
  const content = new XmlContent(shape, partial, errors, () => parser.position());
  const parser = createParser(content, {
    maxDepth,
    maxAttributes,
    maxValue: maxLength,
    maxToken: maxLength,
    encoding: isUtf8 ? 'known' : 'marked',
    names,
  });
  return {
    write(bytes) {
      checkMark?.(bytes);
      withProblems(() => parser.write(bytes));
    },
    end() {
      checkMark?.();
      withProblems(() => parser.end());
      const problem = errors.problem();
      if (problem !== undefined) throw problem;
      return content.value();
    },
  };
}

const utf8Mark = [0xef, 0xbb, 0xbf];

/**
 * Returns a function that takes the bytes of a document, and nothing at its end. It throws a Problem (415) if they do not begin
 * with the byte order mark of UTF-8, which takes precedence over another charset (RFC 7303 §3.2).
 */
function createMarkCheck(charset: string): (bytes?: Uint8Array) => void {
  let read = 0;
  return (bytes) => {
    const expected = utf8Mark.slice(read, bytes === undefined ? undefined : read + bytes.length);
    if (expected.some((byte, at) => bytes?.[at] !== byte)) throw unsupportedCharset(charset);
    read += expected.length;
  };
}

/** Runs a reading of XML. Throws the errors of the parser as Problems. */
export function withProblems(read: () => void): void {
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
