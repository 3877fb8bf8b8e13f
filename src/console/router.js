/**
 * The views. A view is a module with `mount(root, context)`, which renders into an empty element. It may return an object with
 * `update(context)`, which is called when another address of the same view is opened; unless that returns true, the view is mounted again.
 *
 * @typedef {object} Context
 * @property {import('./api.js').Api} api
 * @property {Record<string, string>} parameters those of the route
 * @property {URLSearchParams} query what follows the question mark in the fragment
 * @property {(text: string, kind?: 'information' | 'error') => void} notify shows a notice, which screen readers announce
 * @property {(act: () => unknown, note?: string) => Promise<void>} attempt performs an action; its error becomes a notice
 * @property {(path: string) => void} go opens a path such as `/exchanges/12`
 * @property {() => Promise<any>} server what `GET /server` returns
 * @property {AbortSignal} signal aborted when the view is left: for calls, listeners and waits
 */
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
 */
export function resolve(fragment) {
	const [path = '', query = ''] = fragment.replace(/^#/, '').split('?', 2);
	for (const route of routes) {
		const parameters = matched(route.pattern, path);
		if (parameters !== undefined) return { route, parameters, query: new URLSearchParams(query) };
	}
	return { route: routes[0], parameters: {}, query: new URLSearchParams() };
}

function matched(pattern, path) {
	const expected = pattern.split('/');
	const given = path.replace(/\/$/, '').split('/');
	if (expected.length !== given.length) return undefined;
	const parameters = {};
	for (const [at, part] of expected.entries()) {
		const text = given[at] ?? '';
		if (part.startsWith(':')) parameters[part.slice(1)] = decodeURIComponent(text);
		else if (part !== text) return undefined;
	}
	return parameters;
}
