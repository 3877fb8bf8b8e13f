// Compares requests with the document of a partner.
import type { HttpHeaders } from '../../http/fields.ts';
import { parseMediaType } from '../../http/headers/media-type.ts';
import { Problem } from '../../http/problem.ts';
import { andThen, isPromiseLike, type MaybePromise } from '../../maybe-promise.ts';
import type { Operation, PartnerDocument } from './document.ts';
import type { LocatedSchema } from './located.ts';
import { createParameterChecker, type ParameterChecker, type QueryRules } from './parameters.ts';
import type { ReceivedParameters } from './received.ts';
import { findMedia } from './responses.ts';
import type { SchemaChecker } from './schema-check.ts';
import { readFormParts } from './text-values.ts';
import { describe, listMembers } from './violations.ts';
import { createReadXml, isXml } from './xml-values.ts';

/** Compares requests with the document. */
export interface RequestCheck extends Pick<ParameterChecker, 'fits' | 'present'> {
  /** Throws a Problem (400) if parameters are missing, unknown or malformed. */
  checkParameters(operation: Operation, received: ReceivedParameters): void;
  /** Throws a Problem (400, 415 or 422) if the document does not allow the content. Undefined if there is none. */
  checkContent(operation: Operation, content: unknown, headers: HttpHeaders): MaybePromise<void>;
  /** Returns what the document does not allow, one sentence each. */
  listFaults(
    operation: Operation,
    received: ReceivedParameters,
    content: unknown,
  ): MaybePromise<readonly string[]>;
}

/** What the check depends on. */
interface RequestCheckParts {
  readonly document: PartnerDocument;
  readonly checker: SchemaChecker;
  /** The rules of queries, and the maximum nesting of JSON content. */
  readonly context: QueryRules & { readonly maxDepth: number };
}

/** Creates the check. */
export function createRequestCheck({ document, checker, context }: RequestCheckParts): RequestCheck {
  const parameters = createParameterChecker(document, checker, context);
  const readXml = createReadXml(document, checker, context.maxDepth);

  const checkBody = (
    { body }: Operation,
    content: unknown,
    field: string | undefined,
  ): MaybePromise<void> => {
    const essence = parseMediaType(field ?? '')?.type ?? '';
    const media = findMedia(body?.content ?? [], essence);
    if (body !== undefined && media === undefined && body.content.length > 0)
      throw new Problem(
        'unsupported-media-type',
        `The Content-Type is not one of this operation: ${body.content.map(({ type }) => type).join(', ')}.`,
      );
    const schema = media?.schema;
    if (media === undefined || schema === undefined) return;
    if (isXml(essence) && (content instanceof Uint8Array || typeof content === 'string'))
      return checkValue(schema, readXml(content, schema));
    // Bytes are not decoded, so only a schema of text could be checked.
    if (content instanceof Uint8Array) return;
    if (content instanceof FormData)
      return readFormParts(content, context.maxDepth).then((parts) =>
        checkValue(schema, parameters.readForm(parts, media)),
      );
    const isForm = content instanceof URLSearchParams;
    checkValue(schema, isForm ? parameters.readForm(content, media) : content);
  };

  const checkValue = (schema: LocatedSchema, value: unknown): void => {
    const violations = checker.check(schema, value, 'request');
    const [first] = violations;
    if (first !== undefined)
      throw new Problem('invalid-content', describe(first), { members: listMembers(violations) });
  };

  const checkContent = (operation: Operation, content: unknown, headers: HttpHeaders): MaybePromise<void> => {
    if (operation.body === undefined) return;
    if (content !== undefined) return checkBody(operation, content, headers.get('content-type'));
    if (operation.body.required)
      throw new Problem('content-missing', `${operation.id} requires content (${operation.at}/requestBody).`);
  };

  return {
    checkParameters: (operation, received) => parameters.check(operation, received),
    checkContent,
    listFaults(operation, received, content) {
      const inParameters = listDetails(() => parameters.check(operation, received));
      const inContent = listDetails(() => checkContent(operation, content, received.headers));
      return andThen(inParameters, (first) => andThen(inContent, (second) => [...first, ...second]));
    },
    fits: parameters.fits,
    present: parameters.present,
  };
}

/** Returns what a check throws as a Problem, one sentence for each violation. */
function listDetails(check: () => MaybePromise<void>): MaybePromise<readonly string[]> {
  const explain = (error: unknown): readonly string[] => {
    if (!(error instanceof Problem)) throw error;
    const { errors } = error.members;
    if (!Array.isArray(errors)) return [error.detail];
    return errors.map(({ field, rule, detail }) => describe({ path: field, rule, detail }));
  };
  try {
    const checked = check();
    return isPromiseLike(checked) ? Promise.resolve(checked).then(() => [], explain) : [];
  } catch (error) {
    return explain(error);
  }
}
