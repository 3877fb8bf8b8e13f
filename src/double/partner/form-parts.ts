// Reads the parts of multipart/form-data that are files: JSON is parsed, text is decoded, and of all else each octet is one character,
// so that lengths are those of the file.
import { isUtf8 } from 'node:buffer';
import { readJsonBytes } from '../../formats/json/decoder.ts';
import { parseMediaType } from '../../http/headers/media-type.ts';

/** A part of a form that is JSON, so that its values have their types already. */
export class JsonPart {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/**
 * Reads the parts of a form.
 * @param maxDepth the maximum nesting of JSON
 * @throws Problem (400) if a part is not the JSON that its type declares
 */
export async function readFormParts(
  form: FormData,
  maxDepth: number,
): Promise<readonly (readonly [name: string, value: unknown])[]> {
  return Promise.all(
    Array.from(
      form,
      async ([name, value]) =>
        [name, typeof value === 'string' ? value : await readFile(value, maxDepth)] as const,
    ),
  );
}

async function readFile(file: Blob, maxDepth: number): Promise<unknown> {
  const bytes = Buffer.from(await file.arrayBuffer());
  const type = parseMediaType(file.type)?.type ?? '';
  if (/[/+]json$/.test(type)) {
    const { text } = readJsonBytes(bytes, maxDepth);
    return new JsonPart(JSON.parse(text));
  }
  return bytes.toString(type.startsWith('text/') && isUtf8(bytes) ? 'utf8' : 'latin1');
}
