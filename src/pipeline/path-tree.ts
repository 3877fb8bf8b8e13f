import { hasControlCharacter } from '../http/syntax/control-character.ts';

/** A node of a tree of path templates, one segment deep. Literals take precedence over the parameter. */
export interface Branch<Leaf> {
  readonly literals: Map<string, Branch<Leaf>>;
  parameter: Branch<Leaf> | undefined;
  leaf: Leaf | undefined;
}

/** A value in the tree that a path reaches, with the segments that stand for parameters. */
interface Reached<Leaf> {
  readonly leaf: Leaf;
  readonly values: readonly string[];
}

/** Creates a node without a value. */
export function createBranch<Leaf>(): Branch<Leaf> {
  return { literals: new Map(), parameter: undefined, leaf: undefined };
}

/**
 * Returns the node of a list of segments, which is created if it is missing. A segment that is undefined stands for a parameter, any
 * other is decoded.
 */
export function branchAt<Leaf>(root: Branch<Leaf>, segments: readonly (string | undefined)[]): Branch<Leaf> {
  let branch = root;
  for (const segment of segments) branch = stepInto(branch, segment);
  return branch;
}

function stepInto<Leaf>(branch: Branch<Leaf>, segment: string | undefined): Branch<Leaf> {
  if (segment === undefined) {
    branch.parameter ??= createBranch();
    return branch.parameter;
  }
  const next = branch.literals.get(segment) ?? createBranch<Leaf>();
  branch.literals.set(segment, next);
  return next;
}

/** Segments may be empty (RFC 3986 §3.3): `/hook/` is another path than `/hook`. */
const templateForm = /^(?:\/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2}|\{[A-Za-z][A-Za-z0-9_]*\})*)+$/;
const parameterForm = /^\{([A-Za-z][A-Za-z0-9_]*)\}$/;

/**
 * Returns the node of a template, which is created if it is missing, and the names of its parameters. Throws RangeError on a
 * malformed template.
 */
export function ensureBranch<Leaf>(
  root: Branch<Leaf>,
  template: string,
): { readonly branch: Branch<Leaf>; readonly names: readonly string[] } {
  if (!templateForm.test(template))
    throw new RangeError(`${template} is not a path template such as /weather/{city}`);
  const names: string[] = [];
  let branch = root;
  for (const segment of template.slice(1).split('/')) branch = branchFor(branch, segment, names, template);
  return { branch, names };
}

function branchFor<Leaf>(
  branch: Branch<Leaf>,
  segment: string,
  names: string[],
  template: string,
): Branch<Leaf> {
  const name = parameterForm.exec(segment)?.[1];
  if (name !== undefined) {
    if (names.includes(name)) throw new RangeError(`${template} has the parameter ${name} twice`);
    names.push(name);
    return stepInto(branch, undefined);
  }
  if (segment.includes('{')) throw new RangeError(`${template}: a parameter is a whole segment`);
  return stepInto(branch, decodeURIComponent(segment));
}

/**
 * Returns whether a decoded segment can be the value of a parameter: not an empty one, `.` or `..`, which clients and proxies resolve
 * (RFC 3986 §5.2.4), and none with control characters.
 */
export function isParameterValue(segment: string): boolean {
  return segment !== '' && segment !== '.' && segment !== '..' && !hasControlCharacter(segment);
}

/** Returns the value that these decoded segments reach: depth first, literals first. */
export function findLeaf<Leaf>(root: Branch<Leaf>, segments: readonly string[]): Reached<Leaf> | undefined {
  const values: string[] = [];
  const leaf = search(root, segments, 0, values);
  return leaf === undefined ? undefined : { leaf, values };
}

function search<Leaf>(
  branch: Branch<Leaf>,
  segments: readonly string[],
  at: number,
  values: string[],
): Leaf | undefined {
  const segment = segments[at];
  if (segment === undefined) return branch.leaf;
  const literal = branch.literals.get(segment);
  const found = literal === undefined ? undefined : search(literal, segments, at + 1, values);
  if (found !== undefined || branch.parameter === undefined || segment === '') return found;
  values.push(segment);
  const taken = search(branch.parameter, segments, at + 1, values);
  if (taken === undefined) values.pop();
  return taken;
}

/** Returns all values that these decoded segments reach. Only nodes of matching templates are visited. */
export function findLeaves<Leaf>(root: Branch<Leaf>, segments: readonly string[]): Reached<Leaf>[] {
  const reached: Reached<Leaf>[] = [];
  collect(root, segments, 0, [], reached);
  return reached;
}

function collect<Leaf>(
  branch: Branch<Leaf>,
  segments: readonly string[],
  at: number,
  values: readonly string[],
  into: Reached<Leaf>[],
): void {
  const segment = segments[at];
  if (segment === undefined) {
    if (branch.leaf !== undefined) into.push({ leaf: branch.leaf, values });
    return;
  }
  const literal = branch.literals.get(segment);
  if (literal !== undefined) collect(literal, segments, at + 1, values, into);
  if (branch.parameter !== undefined && isParameterValue(segment))
    collect(branch.parameter, segments, at + 1, [...values, segment], into);
}

/** Returns the parameters of a template by name. */
export function nameParameters(
  names: readonly string[],
  values: readonly string[],
): Readonly<Record<string, string>> {
  const parameters: Record<string, string> = {};
  // The names of a template do not begin with an underscore, so none of them is `__proto__`.
  for (let at = 0; at < names.length; at += 1) parameters[names[at] ?? ''] = values[at] ?? '';
  return parameters;
}
