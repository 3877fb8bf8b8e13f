import { CorruptionError, type CorruptionLocation } from '../corruption-error.ts';
import { parseIsoDate } from './iso-date.ts';

/**
 * Reads a JSON document of the data directory. Each method takes a value, and where it stands for the
 * message, and throws CorruptionError when it is not of the kind asked for. What the document says is in
 * no message, for it may be a secret.
 */
export class JsonFields {
  readonly #file: string;
  readonly #place: CorruptionLocation | undefined;
  readonly #choices: string | undefined;

  /** `place` is where in the file the document is, when that is a part of it; `choices` says what can be done. */
  constructor(file: string, place?: CorruptionLocation, choices?: string) {
    this.#file = file;
    this.#place = place;
    this.#choices = choices;
  }

  /** The members of the whole document: `version`, which must be the one given, and those named. */
  versioned(bytes: Uint8Array, version: number, names: readonly string[]): ReadonlyMap<string, unknown> {
    const value = this.parse(bytes);
    // Asked before the names, since another version may have other members.
    const found = this.count(this.members(value, 'the document').get('version'), 'version');
    if (found !== version) throw this.damage(`its version is ${found}, and this program reads ${version}`);
    return this.object(value, 'the document', ['version', ...names]);
  }

  /** Parses JSON in UTF-8. */
  parse(bytes: Uint8Array): unknown {
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      throw this.damage('it is not UTF-8');
    }
    try {
      const value: unknown = JSON.parse(text);
      return value;
    } catch (error) {
      // The engine's own message may quote the text.
      const position = /at position ([0-9]+)/.exec(error instanceof Error ? error.message : '')?.[1];
      throw this.damage(
        position === undefined ? 'it is not JSON' : `it is not JSON at character ${position}`,
      );
    }
  }

  /** The members of an object, none but those named. */
  object(value: unknown, where: string, names: readonly string[]): ReadonlyMap<string, unknown> {
    const members = this.members(value, where);
    for (const name of members.keys()) {
      if (!names.includes(name)) throw this.damage(`${where} has a member that is not known`);
    }
    return members;
  }

  /** The members of an object, whatever they are called. */
  members(value: unknown, where: string): ReadonlyMap<string, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw this.damage(`${where} is not an object`);
    }
    return new Map(Object.entries(value));
  }

  /** The parts of an array. */
  array(value: unknown, where: string): readonly unknown[] {
    if (!Array.isArray(value)) throw this.damage(`${where} is not an array`);
    return value;
  }

  /** A string. */
  text(value: unknown, where: string): string {
    if (typeof value !== 'string') throw this.damage(`${where} is not a text`);
    return value;
  }

  /** A whole number from 0 on. */
  count(value: unknown, where: string): number {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
      throw this.damage(`${where} is not a whole number`);
    }
    return value;
  }

  /** A date in ISO 8601, as milliseconds. */
  time(value: unknown, where: string): number {
    const time = parseIsoDate(this.text(value, where));
    if (time === undefined) throw this.damage(`${where} is not a date`);
    return time;
  }

  /** The error to throw for something wrong. */
  damage(what: string): CorruptionError {
    return new CorruptionError(this.#file, what, this.#place, this.#choices);
  }
}
