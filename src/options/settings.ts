import { type QuotaPolicy, readQuota } from '../auth/quota-policy.ts';
import { readDuration } from '../duration.ts';
import { parseIpNetwork } from '../http/syntax/ip-address.ts';
import { originsFault } from '../pipeline/cors-policy.ts';
import { httpsOrigin } from '../pipeline/origin.ts';
import { isBasePath } from '../pipeline/proxy.ts';
import type { Setting } from './file.ts';
import { hint, toPrintable } from './flags.ts';
import {
  addressForm,
  type ChoiceKey,
  type ListKey,
  optionTable,
  type TextKey,
  type ToggleKey,
  type WholeKey,
  type WholeKeyWithoutDefault,
  type Word,
} from './table.ts';

/** The values of each option, in order of precedence. Reading an option validates the value of every source. */
export class Settings {
  readonly #byKey = new Map<string, Setting[]>();
  readonly #faults: string[];

  constructor(settings: readonly Setting[], faults: string[]) {
    this.#faults = faults;
    for (const setting of settings) {
      const before = this.#byKey.get(setting.key);
      if (before === undefined) this.#byKey.set(setting.key, [setting]);
      else before.push(setting);
    }
  }

  /** Returns whether the option is on. Default: false. */
  toggle(key: ToggleKey): boolean {
    const states: ReadonlyMap<unknown, boolean> = new Map([
      ['true', true],
      ['1', true],
      ['false', false],
      ['0', false],
    ]);
    const read = ({ value, textual }: Setting): boolean | undefined =>
      typeof value === 'boolean' ? value : textual ? states.get(value) : undefined;
    return (
      this.#first(key, read, (setting) => (setting.textual ? 'true, false, 1 or 0' : 'true or false')) ??
      false
    );
  }

  /** Returns a whole number within its bounds, and at most `limit`. */
  whole(key: WholeKey, limit = Number.POSITIVE_INFINITY): number {
    return this.maybeWhole(key, limit) ?? Math.min(optionTable[key].fallback, limit);
  }

  /** Returns a whole number within its bounds, and at most `limit`; undefined if it is not set. */
  maybeWhole(key: WholeKey | WholeKeyWithoutDefault, limit = Number.POSITIVE_INFINITY): number | undefined {
    const { min, value: unit } = optionTable[key];
    const max = Math.min(optionTable[key].max, limit);
    const read = ({ value, textual }: Setting): number | undefined => {
      const digits = textual && typeof value === 'string' && /^[0-9]{1,15}$/.test(value);
      const number = digits ? Number(value) : unit === 'SECONDS' ? readSeconds(value) : value;
      const fits = typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max;
      return fits ? number : undefined;
    };
    const expected =
      unit === 'SECONDS'
        ? `a whole number of seconds from ${min} to ${max} or text such as 5m`
        : `a whole number from ${min} to ${max}`;
    return this.#first(key, read, () => expected);
  }

  /** Returns one of the words of a choice; undefined if it is not set. */
  choice<Key extends ChoiceKey>(key: Key): Word<Key> | undefined {
    const words: readonly Word<Key>[] = optionTable[key].words;
    const read = ({ value }: Setting): Word<Key> | undefined => words.find((word) => word === value);
    return this.#first(key, read, ({ value }) => {
      return `one of ${words.join(', ')}${typeof value === 'string' ? hint(value, words) : ''}`;
    });
  }

  /** Returns a non-empty string without NUL; undefined if it is not set. */
  text(key: TextKey): string | undefined {
    const read = ({ value }: Setting): string | undefined =>
      typeof value === 'string' && value !== '' && !value.includes('\0') ? value : undefined;
    return this.#first(key, read, () => 'a non-empty string');
  }

  /** Returns an https origin without a trailing slash; undefined if it is not set. */
  origin(key: TextKey): string | undefined {
    const read = ({ value }: Setting): string | undefined =>
      typeof value === 'string' ? httpsOrigin(value) : undefined;
    return this.#first(key, read, () => 'an https origin such as https://api.example');
  }

  /** Returns a path prefix without a slash at the end; undefined if it is not set. */
  basePath(key: TextKey): string | undefined {
    const read = ({ value }: Setting): string | undefined =>
      typeof value === 'string' && isBasePath(value) ? value : undefined;
    return this.#first(key, read, () => 'a path such as /api, without a slash at the end');
  }

  /** Returns the address to bind: an IP address or a host name, without a port or brackets. */
  address(): string {
    const read = ({ value }: Setting): string | undefined =>
      typeof value === 'string' && addressForm.test(value) ? value : undefined;
    return (
      this.#first('host', read, () => 'an address such as 127.0.0.1, ::1 or localhost') ??
      optionTable.host.fallback
    );
  }

  /** Returns a quota, from text, an object or an array; undefined if it is not set. */
  quota(key: TextKey): readonly QuotaPolicy[] | undefined {
    let fault = '';
    const read = ({ value }: Setting): readonly QuotaPolicy[] | undefined => {
      try {
        return readQuota(value, 'it');
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        fault = error.message;
        return undefined;
      }
    };
    return this.#first(key, read, () => `a quota: ${fault}`);
  }

  /** Returns networks in CIDR notation, from an array or a comma-separated string. */
  networks(key: TextKey): readonly string[] {
    const findFault = ({ value }: Setting): string | undefined => {
      const wrong = splitList(value)?.find((network) => typeof parseIpNetwork(network) === 'string');
      return wrong === undefined ? undefined : `: ${formatValue(wrong)} ${parseIpNetwork(wrong)}`;
    };
    const read = (setting: Setting): readonly string[] | undefined =>
      findFault(setting) === undefined ? splitList(setting.value) : undefined;
    return this.#first(key, read, (setting) => `a list of networks${findFault(setting) ?? ''}`) ?? [];
  }

  /** Returns serialized origins, or `*` alone, from an array or a comma-separated string. */
  origins(key: ListKey, credentials: boolean): readonly string[] {
    let first: readonly string[] | undefined;
    for (const { name, value } of this.#byKey.get(key) ?? []) {
      const origins = splitList(value);
      const fault =
        origins === undefined
          ? `${formatValue(value)} is not a list of origins`
          : originsFault(origins, credentials);
      if (fault !== undefined) this.#faults.push(`${name}: ${toPrintable(fault)}`);
      first ??= origins;
    }
    return first ?? [];
  }

  #first<T>(
    key: string,
    read: (setting: Setting) => T | undefined,
    expected: (setting: Setting) => string,
  ): T | undefined {
    let first: T | undefined;
    for (const setting of this.#byKey.get(key) ?? []) {
      const value = read(setting);
      if (value !== undefined) first ??= value;
      else this.#faults.push(`${setting.name}: ${formatValue(setting.value)} is not ${expected(setting)}`);
    }
    return first;
  }
}

/** Reads seconds, or a duration as text such as `5m`, as seconds. */
function readSeconds(value: unknown): number | undefined {
  const ms = readDuration(value, 1000);
  return ms === undefined ? undefined : ms / 1000;
}

/** Splits a comma-separated string, or returns an array of strings; undefined for any other value. */
function splitList(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.split(',').map((word) => word.trim());
  return Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : undefined;
}

/** Formats a value as JSON, short enough for one line. */
function formatValue(value: unknown): string {
  return toPrintable(JSON.stringify(value) ?? 'nothing');
}
