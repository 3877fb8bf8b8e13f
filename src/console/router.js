/**
 * What a view gets.
 *
 * @typedef {object} Context
 * @property {import('./api.js').Api} api
 * @property {Record<string, string>} parameters the parameters of the route
 * @property {URLSearchParams} query the parameters after the question mark in the fragment
 * @property {(text: string, kind?: 'information' | 'error') => void} notify shows a notice and announces it to screen readers
 * @property {(path: string) => void} go opens a path such as `/exchanges/12`
 * @property {() => Promise<ServerInfo>} server what `GET /server` returns
 * @property {AbortSignal} signal aborted when the view is left: pass it to calls, listeners and waits
 *
 * @typedef {{ url?: string, secureUrl?: string, certificate?: string, keeps: 'memory' | 'data' }} ServerInfo
 *
 * A view: a module that exports `mount`.
 * @typedef {object} View
 * @property {(root: HTMLElement, context: Context) => void | MountedView} mount renders the view into an empty element
 *
 * @typedef {object} MountedView
 * @property {(context: Context) => boolean} [update] shows other parameters of a route of the same view; returns false to be mounted again
 *
 * @typedef {object} Route
 * @property {string} pattern such as `/exchanges/:number`
 * @property {string} [label] its name in the navigation
 * @property {() => Promise<View>} load
 */

/** @type {readonly Route[]} */
export const routes = [
  { pattern: '/exchanges', label: 'Exchanges', load: () => import('./exchanges.js') },
  { pattern: '/exchanges/:number', load: () => import('./exchanges.js') },
  { pattern: '/exchanges/:number/:tab', load: () => import('./exchanges.js') },
  { pattern: '/send', label: 'Send', load: () => import('./send.js') },
  { pattern: '/resources', label: 'Resources', load: () => import('./resources.js') },
  { pattern: '/access', label: 'Access', load: () => import('./access.js') },
  { pattern: '/steering', label: 'Steering', load: () => import('./steering.js') },
];

/**
 * Returns the route of a fragment such as `#/send?entry=12`, its parameters and its query; the first route if there is none.
 *
 * @param {string} fragment
 */
export function resolve(fragment) {
  const [path = '', query = ''] = fragment.replace(/^#/, '').split('?', 2);
  for (const route of routes) {
    const parameters = matched(route.pattern, path);
    if (parameters !== undefined) return { route, parameters, query: new URLSearchParams(query) };
  }
  return { route: /** @type {Route} */ (routes[0]), parameters: {}, query: new URLSearchParams() };
}

/**
 * @param {string} pattern
 * @param {string} path
 * @returns {Record<string, string> | undefined}
 */
function matched(pattern, path) {
  const expected = pattern.split('/');
  const given = path.replace(/\/$/, '').split('/');
  if (expected.length !== given.length) return undefined;
  /** @type {Record<string, string>} */
  const parameters = {};
  for (const [at, part] of expected.entries()) {
    const text = given[at] ?? '';
    if (part.startsWith(':')) parameters[part.slice(1)] = decodeURIComponent(text);
    else if (part !== text) return undefined;
  }
  return parameters;
}
