import { CountersignError } from '../../countersign-error.ts';
import { describeFault, formatPath, type ShapeFault } from '../../shape/fault.ts';
import type { Shape } from '../../shape/shape.ts';

const codes = [
  'type',
  'missing',
  'unknown-key',
  'unknown-type',
  'name',
  'clash',
  'pattern',
  'value',
  'range',
  'access',
  'path',
  'seed',
] as const;

/** The codes of {@link DeclarationError}. */
type DeclarationCode = (typeof codes)[number];

/** Thrown for an invalid declaration, before anything is opened. */
export class DeclarationError extends CountersignError {
  override readonly name = 'DeclarationError';
  readonly code: DeclarationCode;
  /** The position in the configuration: `collections./articles.fields.price.fractionDigits`. */
  readonly path: string;

  constructor(code: DeclarationCode, path: string, message: string) {
    super(`${path}: ${message}`);
    this.code = code;
    this.path = path;
  }
}

/**
 * Reads a value of the configuration, or of a call, by its shape.
 * @param path the position of the value in the configuration
 * @throws {DeclarationError} for the first fault
 */
export function readDeclared<T>(shape: Shape<T>, source: unknown, path: string): T {
  const read = shape.read(source);
  if ('value' in read) return read.value;
  const [fault] = read.faults;
  if (fault === undefined) throw new Error('a shape without a value has a fault');
  const within = formatPath(fault.path);
  const at = within === '' || within.startsWith('[') ? `${path}${within}` : `${path}.${within}`;
  throw new DeclarationError(selectCode(fault), at, describeFault(fault));
}

function selectCode(fault: ShapeFault): DeclarationCode {
  switch (fault.kind) {
    case 'type':
      if (fault.value === undefined) return 'missing';
      return fault.expected.includes('number from') ? 'value' : 'type';
    case 'missing':
      return 'missing';
    case 'unknown':
      return 'unknown-key';
    case 'rule':
      return codes.find((code) => code === fault.code) ?? 'value';
    case 'word':
    case 'secret':
      return 'value';
  }
}
