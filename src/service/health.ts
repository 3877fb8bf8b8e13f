import type { Request, Response } from '../http/message.ts';
import { Problem } from '../http/problem.ts';
import { createRequestTrace } from '../pipeline/call.ts';
import type { Next, Observer } from '../pipeline/observer.ts';
import type { PipelineOptions } from '../pipeline/options.ts';
import { pathSent } from '../pipeline/problem-response.ts';
import { action, json, type Resource } from '../pipeline/resource.ts';
import type { HealthOptions } from './options.ts';

/** Creates the resource of health checks: 200, or 503 with the reason. While the service stops, step 1 responds 503. */
export function healthResource({ check }: HealthOptions): Resource {
  return {
    GET: action('anyone', () => {
      const reason = check?.();
      if (reason !== undefined) throw new Problem('not-healthy', reason);
      return { status: 200, representation: json({ status: 'ready' }), noStore: true };
    }),
  };
}

/** Returns whether a request is for the path of health checks, with or without the prefix that a proxy removes. */
export function isHealthCheck({ path }: HealthOptions, request: Request): boolean {
  const sent = pathSent(request);
  return sent === path || (request.basePath !== undefined && sent === request.basePath + path);
}

/** Returns options whose log has no health checks that succeed, and whose observer sees none. */
export function withQuietHealth(
  health: HealthOptions,
  options: PipelineOptions,
): Pick<PipelineOptions, 'log' | 'observer'> {
  const { log, observer, basePath = '' } = options;
  const path = basePath + health.path;
  return {
    ...(log && {
      log: (entry) => {
        if (entry.path !== path || entry.status >= 400) log(entry);
      },
    }),
    ...(observer && { observer: quietObserver(health, observer) }),
  };
}

function quietObserver(health: HealthOptions, observer: Observer): Observer {
  return {
    observe: (request: Request, answer: Next): Promise<Response> =>
      isHealthCheck(health, request)
        ? answer(request, createRequestTrace())
        : observer.observe(request, answer),
    observeRefused: (...refused) => observer.observeRefused(...refused),
  };
}
