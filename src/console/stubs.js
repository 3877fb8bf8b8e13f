import { field, fill, h, select } from './dom.js';
import { attemptIn, confirmed, filled, form, input, loadView, panel, table } from './form.js';
import { longShown } from './format.js';

/** The time in ms after which the counts are read again. */
const pollTime = 5000;

export function mount(root, context) {
	const { api, signal } = context;
	const attempt = attemptIn(context);
	const stubs = h('div');
	const coverage = h('div');
	const removeAll = h(
		'div',
		confirmed('Remove all stubs', 'Remove all stubs?', () => change(() => api.call('DELETE', '/stubs'))),
	);
	let server;

	/** Performs a change, reports it, and shows the new state. */
	const change = (act, note) =>
		attempt(async () => {
			await act();
			await load();
		}, note);

	const showStubs = async () => {
		const { stubs: listed } = await api.get('/stubs', signal);
		const rows = listed.map(({ number, match, count, remaining }) => {
			const remove = () => change(() => api.call('DELETE', `/stubs/${number}`));
			const label = `Remove stub ${number}`;
			return [
				`Stub ${number}`,
				described(match),
				count,
				remaining,
				confirmed('Remove', `${label}?`, remove, { 'aria-label': label }),
			];
		});
		fill(
			stubs,
			table(
				'stubs',
				['Name', 'Requests', 'Answered', 'Remaining', ''],
				rows,
				'There are no stubs. A stub answers before resources and collections do.',
			),
		);
		removeAll.hidden = rows.length === 0;
	};

	const showCoverage = async () => {
		const found = await api.get('/partner/coverage', signal).catch((error) => {
			if (error.status !== 404) throw error;
		});
		if (found === undefined) {
			fill(
				coverage,
				h(
					'p.hint',
					'This server has no document of a partner. Start it with --partner FILE to see what of it was used.',
				),
			);
			return;
		}
		const { operations, text } = found;
		const rows = operations.map(({ operationId, method, path, requests, statuses, undocumented, parameters }) => [
			h(
				'span',
				longShown(operationId),
				operationId !== `${method} ${path}` && h('code.below', longShown(`${method} ${path}`)),
			),
			requests === 0 ? h('strong', 'none') : requests,
			counts({ ...statuses, ...undocumented }),
			unused(statuses, parameters),
		]);
		const heads = ['Operation', 'Requests', 'Responses', 'Not used'];
		fill(
			coverage,
			h('p', text.split('\n', 1)[0], '.'),
			table('operations', heads, rows, 'The document has no operations.'),
		);
	};

	const load = () => Promise.all([showStubs(), showCoverage()]);

	const stubForm = () => {
		const method = input({ value: 'GET', required: true, class: 'short' });
		const path = input({ required: true, placeholder: '/v1/orders/{id}' });
		const status = input({ type: 'number', min: 200, max: 599, value: '200', required: true, class: 'short' });
		const times = input({ type: 'number', min: 1, placeholder: 'any', class: 'short' });
		const access = select([
			['authenticated', 'authenticated users'],
			['anyone', 'anyone'],
		]);
		const [query, headers, responseHeaders, body] = [2, 2, 2, 3].map((rows) =>
			h('textarea', { rows, spellcheck: 'false' }),
		);
		const schemes = input({ placeholder: server.schemes.join(', ') });
		const add = () =>
			change(async () => {
				const match = {
					...filled({ method, path }),
					query: pairsIn(query.value, '=', 'query parameter'),
					headers: pairsIn(headers.value, ':', 'header field'),
				};
				const response = {
					status: Number(status.value),
					headers: pairsIn(responseHeaders.value, ':', 'header field'),
					body: body.value === '' ? undefined : contentIn(body.value),
				};
				const accepted = schemes.value.split(/[\s,]+/).filter(Boolean);
				await api.post('/stubs', {
					match,
					response,
					access: access.value,
					schemes: accepted.length === 0 ? undefined : accepted,
					times: times.value === '' ? undefined : Number(times.value),
				});
			}, 'The stub was added.');
		const controls = [
			field('Method', method),
			field('Path', path),
			field('Status', status),
			field('Access', access),
			field('Schemes', schemes, 'Empty: all that are configured.'),
			field('Times', times),
			field('Query parameters', query, 'Of the request: name=value, one per line.'),
			field('Request header fields', headers, 'Name: value, one per line.'),
			field('Response header fields', responseHeaders, 'Name: value, one per line.'),
			field('Body', body, 'Text that is JSON is sent as JSON.'),
		];
		return form('Add stub', controls, add);
	};

	const start = async () => {
		server = await context.server();
		await load();
		fill(
			root,
			h('h1', 'Stubs'),
			panel('Fixed responses', stubs, removeAll, stubForm()),
			panel('Coverage of the partner’s document', coverage),
		);
		// What the user is about to answer or has focused stays as it is.
		const isInUse = () => root.querySelector('.asked') !== null || root.contains(document.activeElement);
		const timer = setInterval(() => isInUse() || load().catch(() => {}), pollTime);
		signal.addEventListener('abort', () => clearInterval(timer));
	};
	void loadView(context, root, 'Stubs', 'the stubs and the coverage', start);
}

/** Returns the requests that a stub answers. */
function described({ method = 'any method', path = 'any path', ...others }) {
	const further = Object.entries(others).flatMap(([name, values]) =>
		Object.entries(values).map(([key, value]) => h('code.below', longShown(`${name} ${key}: ${value}`))),
	);
	return [h('code', longShown(`${[method].flat().join(', ')} ${path}`)), ...further];
}

function counts(numbers) {
	const used = Object.entries(numbers).filter(([, count]) => count > 0);
	return used.map(([status, count]) => `${status} × ${count}`).join(', ');
}

function unused(...numbers) {
	const names = numbers.flatMap((each) => Object.entries(each).flatMap(([name, count]) => (count === 0 ? [name] : [])));
	return longShown(names.join(', '));
}

/** Returns the names and values of lines; undefined if there is none. Throws an error that names a line without a separator. */
function pairsIn(text, separator, one) {
	const lines = text.split('\n').filter((line) => line.trim() !== '');
	if (lines.length === 0) return undefined;
	const pairs = lines.map((line) => {
		const at = line.indexOf(separator);
		if (at > 0) return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
		throw new Error(`“${line.trim()}” is not a ${one} such as name${separator}value.`);
	});
	return Object.fromEntries(pairs);
}

/** Returns JSON as a value, and other text as it is. */
function contentIn(text) {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
