// The violations of schemas, and how they are described.
import { formatPlace, type Located, type LocatedSchema } from './located.ts';

/** A rule that a value violates. */
export interface Violation {
  /** The member, as a JSON Pointer: `/lines/0/sku`; '' for the value itself. */
  readonly path: string;
  /** The place of the rule in the document: `#/components/schemas/Line/required`. */
  readonly rule: string;
  /** What is wrong, without the member: `must be at least 1`. */
  readonly detail: string;
}

/** Describes a violation: the member, what is wrong, and the place of the rule. */
export function describe({ path, detail, rule }: Violation): string {
  return `${path === '' ? 'The content' : path} ${detail} (${rule}).`;
}

/** Returns the members of a problem with all violations. */
export function listMembers(violations: readonly Violation[]) {
  return {
    field: violations[0]?.path ?? '',
    errors: violations.map(({ path, rule, detail }) => ({ field: path, rule, detail })),
  };
}

/** The violations that are collected of one value, at most. */
const maxViolations = 20;

/** No violations. */
export const none: readonly Violation[] = [];

/** The violations of one value by one schema. */
export class Found {
  readonly schema: Located;
  /** The nesting of the value and of the schema. */
  readonly depth: number;
  /** The schema of the member or item, which `schema` may be a part of. */
  readonly whole: LocatedSchema;
  #violations: Violation[] | undefined;

  constructor(schema: Located, depth: number, whole: LocatedSchema) {
    this.schema = schema;
    this.depth = depth;
    this.whole = whole;
  }

  /** The place of the schema. */
  get at(): string {
    return this.schema.at;
  }

  get violations(): readonly Violation[] {
    return this.#violations ?? none;
  }

  get isFull(): boolean {
    return this.violations.length >= maxViolations;
  }

  /** Adds a violation of a keyword, or of a keyword and a name in it, by the value or one of its members. */
  add(keyword: string | readonly string[], detail: string, member?: string, at = this.at): void {
    if (this.isFull) return;
    const path = member === undefined ? '' : formatPlace('', member);
    this.#violations ??= [];
    this.#violations.push({ path, rule: formatPlace(at, ...[keyword].flat()), detail });
  }

  /** Adds the violations of the same value, or of a member or an item. */
  addAll(violations: readonly Violation[], member?: string | number): void {
    if (violations.length === 0) return;
    this.#violations ??= [];
    const path = member === undefined ? '' : formatPlace('', member);
    for (const violation of violations) {
      if (this.isFull) return;
      this.#violations.push(path === '' ? violation : { ...violation, path: path + violation.path });
    }
  }
}

/** Returns whether violations are fewer, or deeper: a schema whose type fits is nearer than one whose type does not. */
export function isNearer(one: readonly Violation[], other: readonly Violation[]): boolean {
  const difference = computeDepth(one) - computeDepth(other);
  return difference === 0 ? one.length < other.length : difference > 0;
}

/** Returns how deep the first violation is. */
function computeDepth([first]: readonly Violation[]): number {
  return first === undefined || first.rule.endsWith('/type') ? 0 : 1;
}
