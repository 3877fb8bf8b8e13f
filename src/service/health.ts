import type { IncomingRequest, Response } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { grantsCollection } from '../oauth/records.ts';
import { createRequestTrace } from '../pipeline/call.ts';
import type { Next, Observer } from '../pipeline/observer.ts';
import type { PipelineOptions } from '../pipeline/options.ts';
import { pathSent } from '../pipeline/problem-response.ts';
import { action, json, type Resource } from '../pipeline/resource.ts';
import { isStoreError } from '../store/errors.ts';
import type { Store } from '../store/store.ts';
import type { HealthOptions } from './options.ts';

/**
 * Creates the resource of health checks: 200, or 503 with the reason. While the service stops, step 1 responds 503.
 * @param store the store that a readiness check must reach. Default: none
 */
export function healthResource({ check }: HealthOptions, store?: Store): Resource {
  return {
    GET: action('anyone', async () => {
      const reason = check?.() ?? (store && (await findUnreachableReason(store)));
      if (reason !== undefined) throw new Problem('not-healthy', reason);
      return { status: 200, representation: json({ status: 'ready' }), noStore: true };
    }),
  };
}

/** Reads from the store. Returns why that failed; undefined if it succeeded. Rejects with an error that is none of the store. */
export async function findUnreachableReason(store: Pick<Store, 'read'>): Promise<string | undefined> {
  try {
    await store.read(grantsCollection, '0');
    return undefined;
  } catch (error) {
    if (isStoreError(error)) return 'The storage is unavailable.';
    throw error;
  }
}

const readinessSuffix = '/ready';

/** Returns the path of readiness checks. */
export function readinessPath({ path }: HealthOptions): string {
  return path + readinessSuffix;
}

/** Returns whether a request is a health or readiness check, with or without the prefix that a proxy removes. */
export function isHealthCheck({ path }: HealthOptions, request: IncomingRequest): boolean {
  const sent = pathSent(request);
  const { basePath } = request;
  return isCheck(sent, path) || (basePath !== undefined && isCheck(sent, basePath + path));
}

function isCheck(sent: string, path: string): boolean {
  return (
    sent.startsWith(path) && (sent.length === path.length || sent.slice(path.length) === readinessSuffix)
  );
}

/** Returns options whose log has no health checks that succeed, and whose observer sees none. */
export function hideHealthChecks(
  health: HealthOptions,
  options: PipelineOptions,
): Pick<PipelineOptions, 'onRequest' | 'observer'> {
  const { onRequest: log, observer, basePath = '' } = options;
  const paths = [health.path, readinessPath(health)].map((path) => basePath + path);
  return {
    ...(log && {
      onRequest: (entry) => {
        if (!paths.includes(entry.path) || entry.status >= 400) log(entry);
      },
    }),
    ...(observer && { observer: createQuietObserver(health, observer) }),
  };
}

function createQuietObserver(health: HealthOptions, observer: Observer): Observer {
  return {
    observe: (request: IncomingRequest, answer: Next): Promise<Response> =>
      isHealthCheck(health, request)
        ? answer(request, createRequestTrace())
        : observer.observe(request, answer),
    observeRefused: (...refused) => observer.observeRefused(...refused),
  };
}
