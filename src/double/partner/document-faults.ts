// Finds the mistakes of a document that cost operations: references that lead nowhere, and patterns that are not enforced.
import { DeclarationError } from '../../collections/fields/error.ts';
import { type DocumentFiles, listAllObjects, placeOfStep, type Step } from './document-walk.ts';
import { formatPlace, isObject, referenceOf } from './located.ts';
import type { Patterns } from './patterns.ts';
import type { Resolve } from './references.ts';

/** The places of a document with a reference that cannot be followed, there or behind other references. */
export interface BrokenPlaces {
  readonly faults: readonly DeclarationError[];
  /** Throws DeclarationError if a part of the document has such a reference. */
  check(at: string): void;
}

/** Follows every reference of the document once. */
export function findBrokenPlaces(files: DocumentFiles, resolve: Resolve): BrokenPlaces {
  const open: { readonly at: string; readonly fault: DeclarationError }[] = [];
  const referring = new Map<string, string[]>();
  for (const { step, value, first } of listAllObjects(files)) {
    if (first === undefined && referenceOf(value) === undefined) continue;
    const at = placeOfStep(step);
    try {
      const target = first === undefined ? resolve({ value, at }, true).at : placeOfStep(first);
      referring.set(target, [...(referring.get(target) ?? []), at]);
    } catch (error) {
      if (!(error instanceof DeclarationError)) throw error;
      open.push({ at, fault: error });
    }
  }
  const faults = open.map(({ fault }) => fault);
  // A place is broken if a part of it is, or what it refers to.
  const broken = new Map<string, DeclarationError>();
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (
      let { at, fault } = next;
      at !== '' && !broken.has(at);
      at = at.slice(0, Math.max(0, at.lastIndexOf('/')))
    ) {
      broken.set(at, fault);
      for (const from of referring.get(at) ?? []) open.push({ at: from, fault });
    }
  return {
    faults,
    check(at) {
      const fault = broken.get(at);
      if (fault !== undefined) throw fault;
    },
  };
}

/** Returns the patterns that are not enforced, and why. */
export function examinePatterns(files: DocumentFiles, patterns: Patterns): readonly string[] {
  const faults: string[] = [];
  const examine = (source: string, step: Step, ...names: readonly string[]): void => {
    const fault = patterns.findFault(source);
    if (fault !== undefined)
      faults.push(`${formatPlace(placeOfStep(step), ...names)} is not enforced: ${fault}.`);
  };
  for (const { step, value, first } of listAllObjects(files)) {
    if (first !== undefined) continue;
    const { pattern, patternProperties } = value;
    if (typeof pattern === 'string') examine(pattern, step, 'pattern');
    if (isObject(patternProperties))
      for (const source of Object.keys(patternProperties)) examine(source, step, 'patternProperties', source);
  }
  return faults;
}
