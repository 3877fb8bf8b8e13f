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

/** A parser to measure. Unsupported tasks are undefined. */
export interface Peer {
  /** Parses the article. */
  readonly article?: (bytes: Buffer) => Article;
  /** Parses a document in chunks and returns the number of events. */
  readonly stream?: (chunks: Iterable<Buffer>) => number;
}

const require = createRequire(import.meta.url);

// Each peer is created only in the measuring process. A missing package throws.
const PEERS = new Map<string, () => Peer | Promise<Peer>>([
  ['countersign', countersign],
  ['saxes', () => saxes(true)],
  ['saxes, no xmlns', () => saxes(false)],
  ['sax', sax],
  ['htmlparser2', htmlparser2],
  ['ltx', ltx],
  ['easysax', easysax],
  ['node-expat', nodeExpat],
  ['libxml2-wasm', libxml2],
  ['fast-xml-parser', fastXmlParser],
  ['txml', txml],
  ['JSON.parse', () => json((bytes) => JSON.parse(String(bytes)))],
  ['JSON.parse of text', () => json((bytes) => JSON.parse(bytes.toString('latin1')))],
]);

/** Returns the names of the peers: all, or the comma-separated ones of the variable PEERS. */
export function peerNames(): string[] {
  const chosen = process.env['PEERS']?.split(',');
  return [...PEERS.keys()].filter((name) => chosen?.includes(name) ?? true);
}

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

function saxes(xmlns: boolean): Peer {
  const { SaxesParser } = require('saxes');
  return {
    article(bytes) {
      const reader = new Reader();
      const parser = new SaxesParser({ xmlns });
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
      const parser = new SaxesParser({ xmlns });
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

async function htmlparser2(): Promise<Peer> {
  const name = 'htmlparser2';
  const { Parser } = await import(name);
  return {
    article(bytes) {
      const reader = new Reader();
      const parser = new Parser(
        {
          onopentag: (tag: string, attributes: Record<string, string>) =>
            reader.open(tag, attributes['currency'] ?? ''),
          ontext: (data: string) => reader.text(data),
          onclosetag: (tag: string) => reader.endElement(tag),
        },
        { xmlMode: true },
      );
      parser.end(bytes.toString());
      return reader.article;
    },
    stream: fed(
      (count) => new Parser({ onopentag: count, ontext: count, onclosetag: count }, { xmlMode: true }),
    ),
  };
}

function ltx(): Peer {
  const { parse, Parser } = require('ltx');
  return {
    article(bytes) {
      const root = parse(bytes.toString());
      const price = root.getChild('price');
      return { title: root.getChildText('title'), price: price.text(), currency: price.attrs.currency };
    },
    stream: fed((count) => {
      const parser = new Parser();
      for (const event of ['startElement', 'endElement', 'text']) parser.on(event, count);
      return parser;
    }),
  };
}

function easysax(): Peer {
  const EasySax = require('easysax');
  return {
    article(bytes) {
      const reader = new Reader();
      const parser = new EasySax();
      parser.on('startNode', (name: string, attributes: () => Record<string, string>) => {
        const given = attributes();
        reader.open(name, typeof given === 'object' ? (given['currency'] ?? '') : '');
      });
      parser.on('textNode', (data: string) => reader.text(data));
      parser.on('endNode', (name: string) => reader.endElement(name));
      parser.parse(bytes.toString());
      return reader.article;
    },
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

async function libxml2(): Promise<Peer> {
  const name = 'libxml2-wasm';
  const { XmlDocument } = await import(name);
  return {
    article(bytes) {
      const document = XmlDocument.fromBuffer(bytes);
      const article = {
        title: document.get('/article/title').content,
        price: document.get('/article/price').content,
        currency: document.get('/article/price/@currency').content,
      };
      document.dispose();
      return article;
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

async function txml(): Promise<Peer> {
  const name = 'txml';
  const { parse } = await import(name);
  return {
    article(bytes) {
      const [article] = parse(bytes.toString());
      const [title, price] = article.children;
      return { title: title.children[0], price: price.children[0], currency: price.attributes.currency };
    },
  };
}

function json(article: (bytes: Buffer) => Article): Peer {
  return { article };
}
