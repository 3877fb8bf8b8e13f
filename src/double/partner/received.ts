// The path, the query and the fields of a request, as sent: a delimiter that is percent-encoded does not separate (RFC 6570 §3.2).

import type { HttpHeaders } from '../../http/fields.ts';
import { splitPairs } from '../../http/form.ts';
import { decodeText } from '../../http/syntax/percent.ts';
import type { Target } from '../../http/target.ts';
import type { Operation } from './document.ts';
import { encodedParameters } from './paths.ts';

/** A parameter of a query. */
interface QueryPair {
  readonly name: string;
  readonly value: string;
  /** The value as sent, percent-encoded. */
  readonly encoded: string;
}

/** What a request for an operation has. Each part is read on first use. */
export class ReceivedParameters {
  readonly headers: HttpHeaders;
  readonly #template: string;
  readonly #target: Pick<Target, 'path' | 'search'>;
  #path: ReadonlyMap<string, string> | undefined;
  #query: readonly QueryPair[] | undefined;

  constructor({ path }: Operation, target: Pick<Target, 'path' | 'search'>, headers: HttpHeaders) {
    this.headers = headers;
    this.#template = path;
    this.#target = target;
  }

  /** The values of the path template by name, percent-encoded. */
  get path(): ReadonlyMap<string, string> {
    this.#path ??= encodedParameters(this.#template, this.#target.path);
    return this.#path;
  }

  get query(): readonly QueryPair[] {
    this.#query ??= readQuery(this.#target.search);
    return this.#query;
  }
}

function readQuery(search: string): readonly QueryPair[] {
  const sent = splitPairs(search);
  return Array.from(new URLSearchParams(search), ([name, value], index) => ({
    name,
    value,
    encoded: sent[index]?.[1] ?? '',
  }));
}

/** Decodes a value of a path or a cookie. What is malformed stays as sent. */
export function decodeValue(text: string): string {
  return decodeText(text) ?? text;
}

/** Decodes a value of a query, in which a plus sign stands for a space. */
export function decodeQueryValue(text: string): string {
  return decodeValue(text.replaceAll('+', ' '));
}
