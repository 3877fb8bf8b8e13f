const exchanges = () => import('./exchanges.js');

/**
 * The views. Each is a module with `mount(root, context)`, which renders into an empty element. It may return `{ update }`, which is
 * called with the context of another address of the same view, and returns whether the view stays. The context has `api`; `parameters`
 * and `query` of the address; `notify(text, kind)`; `attempt(act, note)`, which turns an error into a notice; `go(path)`; `server()`, which
 * resolves to what `GET /server` returns; and `signal`, which is aborted when the view is left.
 */
export const routes = [
	{ pattern: '/exchanges', label: 'Exchanges', load: exchanges },
	{ pattern: '/exchanges/:number', load: exchanges },
	{ pattern: '/exchanges/:number/:tab', load: exchanges },
	{ pattern: '/send', label: 'Send', load: () => import('./send.js') },
	{ pattern: '/resources', label: 'Resources', load: () => import('./resources.js') },
	{ pattern: '/access', label: 'Access', load: () => import('./access.js') },
	{ pattern: '/stubs', label: 'Stubs', load: () => import('./stubs.js') },
	{ pattern: '/control', label: 'Control', load: () => import('./control.js') },
];

/** Returns the route of a fragment such as `#/send?entry=12`; the first one if there is none. */
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
