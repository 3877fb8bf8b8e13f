// Reads the text of a document: JSON, or YAML with a package of the user's project.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { DeclarationError } from '../../collections/fields/error.ts';
import type { DocumentFiles } from './document-walk.ts';
import { isObject } from './located.ts';
import { listReferredFiles } from './references.ts';

/** The largest number of files that a document may consist of. */
const maxFiles = 10_000;

/**
 * Reads a document, and the files that it refers to. A file that cannot be read costs the operations that use it.
 * @throws DeclarationError that names the document, if it cannot be read
 */
export async function readDocumentFiles(file: string): Promise<DocumentFiles> {
  const files = new Map<string, unknown>([['', await readDocumentFile(file)]]);
  const folder = dirname(file);
  // Files that are found on the way are appended, and read in turn.
  for (const [name, value] of files)
    for (const referred of listReferredFiles(value, name)) {
      if (files.has(referred)) continue;
      files.set(
        referred,
        files.size < maxFiles
          ? await readDocumentFile(join(folder, referred)).catch((error: unknown) => error)
          : new DeclarationError('value', referred, `is not read: a document may have ${maxFiles} files`),
      );
    }
  return files;
}

/**
 * Reads the value of a file in JSON or YAML.
 * @throws DeclarationError that names the file
 */
async function readDocumentFile(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new DeclarationError('value', file, `cannot be read: ${formatMessage(error)}`);
  });
  const isYaml = /\.ya?ml$/i.test(file) || !/^\s*[{["]/.test(text.replace(/^\ufeff/, ''));
  return isYaml ? parseYaml(text, file) : parseJson(text, file);
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new DeclarationError('value', file, `#: is not JSON: ${formatMessage(error)}`);
  }
}

function parseYaml(text: string, file: string): unknown {
  const parse = findYamlParser(file);
  if (parse === undefined)
    throw new DeclarationError(
      'value',
      file,
      'is YAML, which is read with the package yaml or js-yaml, and neither is installed: npm install --save-dev yaml',
    );
  try {
    return parse(text);
  } catch (error) {
    throw new DeclarationError('value', file, `is not YAML: ${formatMessage(error)}`);
  }
}

type Parser = (text: string) => unknown;

/** Finds a parser beside the document, or in the working directory. */
function findYamlParser(file: string): Parser | undefined {
  for (const folder of [dirname(resolve(file)), process.cwd()])
    for (const name of ['yaml', 'js-yaml']) {
      const parser = toParser(name, load(name, folder));
      if (parser !== undefined) return parser;
    }
  return undefined;
}

function load(name: string, folder: string): unknown {
  try {
    return createRequire(join(folder, 'package.json'))(name);
  } catch {
    return undefined;
  }
}

/** Returns the parser of a package, with a schema of YAML 1.2, in which dates and `no` are texts. */
function toParser(name: string, loaded: unknown): Parser | undefined {
  if (!isObject(loaded)) return undefined;
  const { parse, load: read, CORE_SCHEMA: schema } = loaded;
  if (name === 'yaml' && typeof parse === 'function')
    return (text) => parse(text, { version: '1.2', schema: 'core', merge: true });
  if (name === 'js-yaml' && typeof read === 'function') return (text) => read(text, { schema });
  return undefined;
}

function formatMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
