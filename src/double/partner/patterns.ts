// Compiles the patterns of a document, each once, with an engine that takes linear time. Those that it cannot compile are not enforced.
import { compileEcmaPattern, type EcmaPattern } from '../../collections/fields/pattern/match.ts';
import { PatternError } from '../../collections/fields/pattern/syntax.ts';

/** The steps of all patterns for one value, about half a second. */
export const maxPatternSteps = 20_000_000;

/** The patterns of a document by their sources. */
export interface Patterns {
  /** Returns a compiled pattern; undefined for one that is not enforced. */
  find(source: string): EcmaPattern | undefined;
  /** Returns why a pattern is not enforced; undefined for one that is. */
  findFault(source: string): string | undefined;
}

/** Returns the patterns of a document. Each is compiled on first use. */
export function createPatterns(): Patterns {
  const compiled = new Map<string, EcmaPattern | PatternError>();
  const compile = (source: string): EcmaPattern | PatternError => {
    const found = compiled.get(source) ?? tryToCompile(source);
    compiled.set(source, found);
    return found;
  };
  return {
    find(source) {
      const found = compile(source);
      return found instanceof PatternError ? undefined : found;
    },
    findFault(source) {
      const found = compile(source);
      return found instanceof PatternError ? found.message : undefined;
    },
  };
}

/** A pattern in slashes, as source code and PHP write it. With them, nothing would match. */
const delimited = /^\/(\^.*\$)\/([gimsuy]*)$/s;

function tryToCompile(source: string): EcmaPattern | PatternError {
  const [, inner = source, flags = ''] = delimited.exec(source) ?? [];
  if (/[ims]/.test(flags)) return new PatternError(`has the flags ${flags}, which a schema cannot have`);
  try {
    return compileEcmaPattern(inner);
  } catch (error) {
    if (error instanceof PatternError) return error;
    throw error;
  }
}
