import { createRequire } from 'node:module';
import { StringDecoder } from 'node:string_decoder';
import { createParser, type XmlHandler } from '../../src/xml/index.ts';
import { XmlNames } from '../../src/xml/names.ts';

/** The values that are read from the article. */
export interface Article {
  title: string;
  price: string;
  currency: string;
}

/** A parser to measure. */
export interface Peer {
  /** Parses the article. */
  readonly article: (bytes: Buffer) => Article;
  /** Parses a document in chunks and returns the number of events. Undefined: it takes whole documents only. */
  readonly stream?: (chunks: Iterable<Buffer>) => number;
}

const require = createRequire(import.meta.url);

// Each peer is created only in the measuring process. A missing package throws.
const PEERS = new Map<string, () => Peer | Promise<Peer>>([
  ['countersign', countersign],
  ['saxes', saxes],
  ['sax', sax],
  ['node-expat', nodeExpat],
  ['fast-xml-parser', fastXmlParser],
  ['JSON.parse', () => ({ article: (bytes) => JSON.parse(String(bytes)) })],
]);

/** The names of the peers. */
export const peerNames: readonly string[] = [...PEERS.keys()];

/** Returns the peer with this name. Throws the error of `require` if its package is not installed. */
export async function peerOf(name: string): Promise<Peer> {
  const make = PEERS.get(name);
  if (make === undefined) throw new RangeError(`there is no parser called ${name}`);
  return make();
}

/** Collects the article from the events of a parser. */
class Reader implements XmlHandler {
  readonly article: Article = { title: '', price: '', currency: '' };
  private data = '';

  startElement(name: string, attributes: readonly [string, string][]): void {
    this.open(name, attributes[0]?.[1] ?? '');
  }

  open(name: string, currency: string): void {
    this.data = '';
    if (name === 'price') this.article.currency = currency;
  }

  text(data: string): void {
    this.data = this.data === '' ? data : this.data + data;
  }

  endElement(name: string): void {
    if (name === 'title') this.article.title = this.data;
    else if (name === 'price') this.article.price = this.data;
  }
}

function countersign(): Peer {
  const options = { names: new XmlNames() };
  return {
    article(bytes) {
      const reader = new Reader();
      const parser = createParser(reader, options);
      parser.write(bytes);
      parser.end();
      return reader.article;
    },
    stream(chunks) {
      let events = 0;
      const count = (): void => {
        events += 1;
      };
      const parser = createParser({ startElement: count, endElement: count, text: count });
      for (const chunk of chunks) parser.write(chunk);
      parser.end();
      return events;
    },
  };
}

/** The common interface of parsers that take strings. */
function fed(
  make: (count: () => void) => { write(text: string): unknown },
): (chunks: Iterable<Buffer>) => number {
  return (chunks) => {
    let events = 0;
    const decoder = new StringDecoder('utf8');
    const parser = make(() => {
      events += 1;
    });
    for (const chunk of chunks) parser.write(decoder.write(chunk));
    return events;
  };
}

function saxes(): Peer {
  const { SaxesParser } = require('saxes');
  return {
    article(bytes) {
      const reader = new Reader();
      const parser = new SaxesParser({ xmlns: true });
      parser.on(
        'opentag',
        (tag: { name: string; attributes: Record<string, { value: string } | string> }) => {
          const currency = tag.attributes['currency'];
          reader.open(tag.name, typeof currency === 'string' ? currency : (currency?.value ?? ''));
        },
      );
      parser.on('text', (data: string) => reader.text(data));
      parser.on('closetag', (tag: { name: string }) => reader.endElement(tag.name));
      parser.write(bytes.toString()).close();
      return reader.article;
    },
    stream: fed((count) => {
      const parser = new SaxesParser({ xmlns: true });
      for (const event of ['opentag', 'closetag', 'text']) parser.on(event, count);
      return parser;
    }),
  };
}

function sax(): Peer {
  const { parser: make } = require('sax');
  return {
    article(bytes) {
      const reader = new Reader();
      const parser = make(true, { xmlns: true });
      parser.onopentag = (tag: { name: string; attributes: Record<string, { value: string }> }) =>
        reader.open(tag.name, tag.attributes['currency']?.value ?? '');
      parser.ontext = (data: string) => reader.text(data);
      parser.onclosetag = (name: string) => reader.endElement(name);
      parser.write(bytes.toString()).close();
      return reader.article;
    },
    stream: fed((count) => {
      const parser = make(true, { xmlns: true });
      parser.onopentag = parser.onclosetag = parser.ontext = count;
      return parser;
    }),
  };
}

function nodeExpat(): Peer {
  const { Parser } = require('node-expat');
  return {
    article(bytes) {
      const reader = new Reader();
      const parser = new Parser('UTF-8');
      parser.on('startElement', (name: string, attributes: Record<string, string>) =>
        reader.open(name, attributes['currency'] ?? ''),
      );
      parser.on('text', (data: string) => reader.text(data));
      parser.on('endElement', (name: string) => reader.endElement(name));
      parser.parse(bytes, true);
      return reader.article;
    },
    stream(chunks) {
      let events = 0;
      const parser = new Parser('UTF-8');
      for (const event of ['startElement', 'endElement', 'text']) parser.on(event, () => events++);
      for (const chunk of chunks) parser.parse(chunk, false);
      return events;
    },
  };
}

function fastXmlParser(): Peer {
  const { XMLParser } = require('fast-xml-parser');
  const parser = new XMLParser({ ignoreAttributes: false, parseTagValue: false });
  return {
    article(bytes) {
      const { article } = parser.parse(bytes.toString());
      return { title: article.title, price: article.price['#text'], currency: article.price['@_currency'] };
    },
  };
}
