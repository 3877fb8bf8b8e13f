import { readFileSync } from 'node:fs';
import { rootResource } from '../../collections/own-resources.ts';
import { Problem } from '../../http/problem.ts';
import {
  type Action,
  action,
  type Representation,
  type Resource,
  type Variant,
} from '../../pipeline/resource.ts';
import type { Route } from '../../pipeline/router.ts';

/** The folder of the console. It has the same place beside this module in src and beside its chunk in dist. */
const folder = new URL('../../console/', import.meta.url);

const html: Variant = { type: 'text/html; charset=utf-8', mark: 'h' };
const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

/** The names of modules. They have no dots but that of the ending, so that none leads out of the folder. */
const moduleName = /^[a-z][a-z0-9-]*\.js$/;

/**
 * Returns the resources of the console: its document, stylesheet and modules, which are open and the same for everyone. Clients that
 * prefer XML or JSON to HTML get the list of the resources at `/` instead, as from every service.
 */
export function consoleResources(routes: readonly Route[]): Readonly<Record<string, Resource>> {
  const index = rootResource(routes);
  return {
    '/': {
      produces: [html, ...(index.produces ?? [])],
      GET: action('anyone', (call) => {
        if (call.variant?.mark === html.mark) return { type: html.type, body: readText('index.html') };
        return index.GET?.handle(call) ?? notFound();
      }),
    },
    '/console.js': { GET: file(() => 'console.js') },
    '/console.css': { GET: file(() => 'console.css') },
    '/console/{module}': { GET: file(({ module = '' }) => (moduleName.test(module) ? module : notFound())) },
  };
}

function file(chooseName: (parameters: Readonly<Record<string, string>>) => string): Action {
  return action('anyone', ({ parameters }): Representation => {
    const name = chooseName(parameters);
    return { type: types[name.split('.').at(-1) ?? ''] ?? 'text/plain', body: readText(name) };
  });
}

/** Returns the text of a file of the console. It is read each time: a browser asks for few, and they change in development. */
function readText(name: string): string {
  try {
    return readFileSync(new URL(name, folder), 'utf8');
  } catch {
    return notFound();
  }
}

function notFound(): never {
  throw new Problem('not-found', 'The console has no such file.');
}
