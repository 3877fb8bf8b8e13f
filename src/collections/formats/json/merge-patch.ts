/** JSON Merge Patch (RFC 7396): a document with the members that change, in which null removes a member. */

import { decodeWhole } from '../../../http/collected-bytes.ts';
import { type JsonMember, type JsonNode, positionAt, readJson } from '../../../http/json.ts';
import type { Decoder } from '../../../pipeline/resource.ts';
import type { StoredRecord } from '../../../store/store.ts';
import type { Shape } from '../../fields/schema.ts';
import type { ReadingOptions } from '../list-item.ts';
import { describeReadOnly, ValidationErrors } from '../validation-errors.ts';
import { JsonContent } from './content.ts';
import { readJsonBytes, withoutAddress } from './decoder.ts';
import { writeItemJson } from './writer.ts';

/** The media type of a merge patch. */
export const mergePatchType = 'application/merge-patch+json';

/** A merge patch that was read, but not applied. */
export interface MergePatch {
  /** The document. */
  readonly text: string;
  readonly node: JsonNode;
}

/** Creates a decoder of a merge patch. It throws the problems of JSON documents. */
export function mergePatchDecoder(maxDepth: number): Omit<Decoder, 'end'> & { end(): MergePatch } {
  return decodeWhole((bytes) => readJsonBytes(bytes, maxDepth));
}

/**
 * Applies a merge patch to an item.
 * @throws {Problem} `invalid-content` if the item would violate a rule, or a field is read-only
 */
export function applyMergePatch(
  shape: Shape,
  before: StoredRecord,
  { text, node: sent }: MergePatch,
  { maxDepth, address }: Pick<ReadingOptions, 'maxDepth' | 'address'>,
): StoredRecord {
  const errors = new ValidationErrors();
  const locate = (at: number) => positionAt(text, at);
  const node = address === undefined ? sent : withoutAddress(sent, address, errors, locate);
  reportReadOnly(shape, node, errors, locate);
  const target = readJson(writeItemJson(shape, before), maxDepth);
  // The positions of members that stay are those in the stored item, so that none is reported.
  const merged = new JsonContent(errors, () => undefined, 'seed').item(
    shape,
    mergeNodes(target, node),
    false,
  );
  const problem = errors.problem();
  if (problem !== undefined) throw problem;
  if (merged === undefined) throw new Error('a document without errors has a value');
  const undeclared = Object.entries(before).filter(([name]) => !shape.schema.byName.has(name));
  return { ...Object.fromEntries(undeclared), ...merged };
}

function reportReadOnly(
  shape: Shape,
  node: JsonNode,
  errors: ValidationErrors,
  locate: (at: number) => ReturnType<typeof positionAt>,
): void {
  if (node.kind !== 'object') return;
  for (const field of shape.readOnlyFields) {
    const at = node.members.get(field.name)?.at;
    if (at === undefined || !errors.hasRoom()) continue;
    errors.add(field.name, { rule: 'read-only', detail: describeReadOnly(field) }, locate(at));
  }
}

/** Merges a patch into a document (RFC 7396 §2). */
function mergeNodes(target: JsonNode | undefined, patch: JsonNode): JsonNode {
  if (patch.kind !== 'object') return patch;
  const members = new Map<string, JsonMember>(target?.kind === 'object' ? target.members : []);
  for (const [name, { at, value }] of patch.members) {
    if (value.kind === 'null') members.delete(name);
    else members.set(name, { at, value: mergeNodes(members.get(name)?.value, value) });
  }
  return { kind: 'object', at: patch.at, members };
}
