import { CorruptionError, type CorruptionLocation } from '../store/corruption-error.ts';
import { parseIsoDate } from '../store/encoding/iso-date.ts';

/**
 * Reads a JSON document of the data directory. Each method takes a value and its name for the message, and throws
 * CorruptionError if the value does not have the expected type. No message contains a value, because it may be a secret.
 */
export class JsonFields {
  readonly #file: string;
  readonly #location: CorruptionLocation | undefined;
  readonly #advice: string | undefined;

  /**
   * @param location the position of the document, if it is only a part of the file
   * @param advice what the user can do if the document is corrupt
   */
  constructor(file: string, location?: CorruptionLocation, advice?: string) {
    this.#file = file;
    this.#location = location;
    this.#advice = advice;
  }

  /** Parses the whole document. Returns its members: `version`, which must be the given one, and those with these names. */
  versioned(bytes: Uint8Array, version: number, names: readonly string[]): ReadonlyMap<string, unknown> {
    const value = this.parse(bytes);
    // Checked before the names, because another version may have other members.
    const found = this.count(this.members(value, 'the document').get('version'), 'version');
    if (found !== version)
      throw this.corruption(`its version is ${found}, and this program reads ${version}`);
    return this.object(value, 'the document', ['version', ...names]);
  }

  /** Parses JSON in UTF-8. */
  parse(bytes: Uint8Array): unknown {
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      throw this.corruption('it is not UTF-8');
    }
    try {
      const value: unknown = JSON.parse(text);
      return value;
    } catch (error) {
      // The message of the engine may quote the text.
      const position = /at position ([0-9]+)/.exec(error instanceof Error ? error.message : '')?.[1];
      throw this.corruption(
        position === undefined ? 'it is not JSON' : `it is not JSON at character ${position}`,
      );
    }
  }

  /** Returns the members of an object, which must not have any but those with these names. */
  object(value: unknown, name: string, names: readonly string[]): ReadonlyMap<string, unknown> {
    const members = this.members(value, name);
    for (const member of members.keys()) {
      if (!names.includes(member)) throw this.corruption(`${name} has a member that is not known`);
    }
    return members;
  }

  /** Returns the members of an object. */
  members(value: unknown, name: string): ReadonlyMap<string, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw this.corruption(`${name} is not an object`);
    }
    return new Map(Object.entries(value));
  }

  /** Returns an array. */
  array(value: unknown, name: string): readonly unknown[] {
    if (!Array.isArray(value)) throw this.corruption(`${name} is not an array`);
    return value;
  }

  /** Returns a string. */
  text(value: unknown, name: string): string {
    if (typeof value !== 'string') throw this.corruption(`${name} is not a text`);
    return value;
  }

  /** Returns a safe integer of at least 0. */
  count(value: unknown, name: string): number {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
      throw this.corruption(`${name} is not a whole number`);
    }
    return value;
  }

  /** Returns a date of ISO 8601 in milliseconds since 1970. */
  time(value: unknown, name: string): number {
    const time = parseIsoDate(this.text(value, name));
    if (time === undefined) throw this.corruption(`${name} is not a date`);
    return time;
  }

  /** Creates the error for a fault. */
  corruption(reason: string): CorruptionError {
    return new CorruptionError(this.#file, reason, this.#location, this.#advice);
  }
}
