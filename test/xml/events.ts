import { createParser, XmlError, type XmlParserOptions } from '../../src/xml/index.ts';

/** What a parser told of a document: its events in short, and the error at their end if there was one. */
interface Outcome {
  readonly events: readonly string[];
  readonly error: XmlError | undefined;
}

/** Parses a document given as chunks; text that comes in pieces is put together. */
export function parse(chunks: Iterable<Uint8Array>, options: XmlParserOptions = {}): Outcome {
  const events: string[] = [];
  let text = '';
  let textAt = '';
  const at = (): string => {
    const { line, column } = parser.position();
    return `${line}:${column}`;
  };
  const tell = (event: string): void => {
    if (text !== '') events.push(`text ${JSON.stringify(text)} ${textAt}`);
    text = '';
    if (event !== '') events.push(event);
  };
  const parser = createParser(
    {
      startElement: (name, attributes) => tell(`start ${name} ${JSON.stringify(attributes)} ${at()}`),
      endElement: (name) => tell(`end ${name} ${at()}`),
      text: (data) => {
        if (text === '') textAt = at();
        text += data;
      },
      comment: (data) => tell(`comment ${JSON.stringify(data)} ${at()}`),
      processingInstruction: (target, data) => tell(`instruction ${target} ${JSON.stringify(data)} ${at()}`),
    },
    options,
  );
  let error: XmlError | undefined;
  try {
    for (const chunk of chunks) parser.write(chunk);
    parser.end();
  } catch (thrown) {
    if (!(thrown instanceof XmlError)) throw thrown;
    error = thrown;
  }
  tell('');
  return { events, error };
}

/** Parses a document given whole. */
export function parseWhole(document: string | Uint8Array, options: XmlParserOptions = {}): Outcome {
  return parse([typeof document === 'string' ? Buffer.from(document) : document], options);
}

/** The outcome as one string, to be compared. */
export function formatOutcome({ events, error }: Outcome): string {
  const end =
    error === undefined ? 'well-formed' : `${error.code} ${error.line}:${error.column} ${error.message}`;
  return [...events, end].join('\n');
}
