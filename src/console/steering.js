import { button, field, fill, h, select } from './dom.js';
import { confirmed, form, input, memoryPanel, moment, panel, table } from './form.js';
import { longShown, span } from './format.js';

/** The kinds of faults: a label, the member of the fault, and how its value is entered. */
const kinds = {
	status: ['Respond with a status', 'Status', '503', Number],
	delay: ['Delay the response', 'Milliseconds', '2000', Number],
	dribble: ['Send the content slowly', 'Bytes per second', '10', Number],
	truncate: ['Close within the content', 'Bytes sent', '10', Number],
	reset: [
		'Reset the connection',
		'before, amid, or bytes sent',
		'before',
		(text) => (/^\d+$/.test(text) ? Number(text) : text),
	],
	wrongLength: ['Wrong Content-Length', 'Bytes by which it is wrong', '1', Number],
	badChunk: ['Malformed chunk'],
	malformedXml: ['Malformed XML'],
	staleCertificate: ['Expired certificate'],
	rotatedSecret: ['Secret was rotated'],
	expiredToken: ['Token has expired'],
	nonceSeen: ['Nonce was used'],
	skewedDate: ['Clock is ahead', 'Milliseconds', '720000', Number],
};

/** The time in ms after which the state is read again. */
const pollTime = 5000;

export function mount(root, context) {
	const { api, attempt, signal } = context;
	const time = h('output.time');
	const state = h('p.hint');
	const faults = h('div');
	const snapshots = h('div');
	let clock = { time: 0, frozen: true, skew: 0 };
	let read = 0;

	const showTime = () => {
		const now = clock.frozen ? clock.time : clock.time + performance.now() - read;
		time.textContent = moment(now);
	};
	const showClock = (value) => {
		clock = value;
		read = performance.now();
		const skew = value.skew === 0 ? '' : ` Date is ${span(value.skew / 1000)} ${value.skew < 0 ? 'behind' : 'ahead'}.`;
		const far =
			Math.abs(value.time - Date.now()) < 1500 ? 'It is that of this browser' : 'It differs from that of this browser';
		fill(state, `${value.frozen ? 'Frozen.' : `Running. ${far}.`}${skew}`);
		showTime();
	};
	const steer = (operation, content, note) =>
		attempt(async () => showClock(await api.post(`/clock/${operation}`, content)), note);

	const showFaults = async () => {
		const { faults: planned } = await api.get('/faults', signal);
		const rows = planned.map(({ match, fault, left, met }) => [
			h('code', longShown(JSON.stringify(fault))),
			Object.keys(match).length === 0 ? 'all requests' : h('code', longShown(JSON.stringify(match))),
			left,
			met,
		]);
		const at = faults.querySelector('.scroll');
		const isFocused = at !== null && at === document.activeElement;
		fill(faults, table('planned faults', ['Fault', 'Requests', 'Left', 'Applied'], rows, 'No faults are planned.'));
		if (isFocused) faults.querySelector('.scroll')?.focus();
	};

	const showSnapshots = async () => {
		const { snapshots: taken } = await api.get('/snapshot', signal);
		const rows = taken
			.reverse()
			.map(({ snapshot, time: at }) => [
				`Snapshot ${snapshot}`,
				moment(at),
				confirmed(
					'Restore',
					`Restore snapshot ${snapshot}?`,
					() => changeState(() => api.post('/restore', { snapshot }), `Snapshot ${snapshot} was restored.`),
					{ 'aria-label': `Restore snapshot ${snapshot}` },
				),
			]);
		fill(snapshots, table('snapshots', ['Name', 'Taken at', ''], rows, 'There are no snapshots.'));
	};

	/** Performs a change of the whole state, and shows the new one. */
	const changeState = (act, note) =>
		attempt(async () => {
			await act();
			await load();
		}, note);

	const load = async () => {
		showClock(await api.get('/clock', signal));
		await Promise.all([showFaults(), showSnapshots()]);
	};

	const clockPanel = () => {
		const by = input({ value: '11m', required: true });
		const to = input({ placeholder: '2026-03-01T12:00:00Z', required: true });
		const skew = input({ value: '-5m', required: true });
		const quick = ['-1h', '-1m', '1m', '11m', '1h', '24h'].map((each) =>
			button(each.startsWith('-') ? `−${each.slice(1)}` : `+${each}`, () => steer('advance', { by: each }), {
				'aria-label': each.startsWith('-') ? `Set back by ${each.slice(1)}` : `Advance by ${each}`,
			}),
		);
		return panel(
			'Clock',
			h('p.clock-face', time),
			state,
			h(
				'div.actions',
				quick,
				button('Freeze', () => steer('freeze', {})),
				button('Follow the host', () => steer('follow')),
			),
			h(
				'div.forms',
				form('Advance', [field('By', by, 'Such as 90s, 11m or -24h.')], () => steer('advance', { by: by.value })),
				form('Set', [field('To', to)], () => steer('set', { to: to.value })),
				form('Skew', [field('Skew of Date', skew, '0 removes it.')], () =>
					steer('skew', { by: Number(skew.value) === 0 ? 0 : skew.value }),
				),
			),
		);
	};

	const faultPanel = () => {
		const kind = select(Object.entries(kinds).map(([name, [label]]) => [name, label]));
		const value = input({ required: true });
		const valueField = field('Value', value);
		const method = input({ placeholder: 'any', list: 'fault-methods' });
		const path = input({ placeholder: 'any, or /articles/{id}' });
		const user = input({ placeholder: 'any' });
		const times = input({ value: '1', pattern: '[1-9][0-9]*|always' });
		const adapt = () => {
			const [, label, initial = ''] = kinds[kind.value];
			valueField.hidden = label === undefined;
			value.disabled = label === undefined;
			valueField.firstChild.textContent = label ?? '';
			value.value = initial;
		};
		kind.addEventListener('change', adapt);
		adapt();
		const plan = () =>
			attempt(async () => {
				const read = kinds[kind.value][3];
				const match = Object.fromEntries(
					Object.entries({ method, path, user }).flatMap(([name, { value: text }]) =>
						text === '' ? [] : [[name, text]],
					),
				);
				await api.post('/faults', {
					match,
					fault: { [kind.value]: read === undefined ? true : read(value.value) },
					times: times.value === 'always' ? 'always' : Number(times.value),
				});
				await showFaults();
			}, 'The fault is planned.');
		const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'].map((each) => h('option', { value: each }));
		return panel(
			'Faults',
			h('datalist', { id: 'fault-methods' }, methods),
			form(
				'Plan fault',
				[
					field('Fault', kind),
					valueField,
					field('Method', method),
					field('Path', path),
					field('User', user),
					field('Times', times, 'A number, or always.'),
				],
				plan,
				{ class: 'primary' },
			),
			faults,
			confirmed('Remove all faults', 'Remove all planned faults?', () =>
				attempt(async () => {
					await api.call('DELETE', '/faults');
					await showFaults();
				}, 'No faults are planned.'),
			),
		);
	};

	const noncePanel = () => {
		const count = input({ type: 'number', min: 1, value: '1', required: true });
		const note = 'The next nonces count as used.';
		return panel(
			'Nonces',
			h('p.hint', 'The next nonces count as used, so valid requests are refused as replays.'),
			form('Burn nonces', [field('Number', count)], () =>
				attempt(() => api.post('/nonces/burn', { times: Number(count.value) }), note),
			),
		);
	};

	const statePanel = (server) =>
		memoryPanel(
			'State',
			server,
			h('p.hint', 'Items, users, tokens, nonces, routes, faults, the journal and the clock.'),
			h(
				'div.actions',
				button('Take snapshot', () => changeState(() => api.post('/snapshot'), 'A snapshot was taken.')),
				confirmed('Reset', 'Restore the state at the start?', () =>
					changeState(() => api.post('/reset'), 'The server is as at its start.'),
				),
			),
			snapshots,
		);

	const seedPanel = (server, collections) => {
		const path = input({ list: 'collections', required: true, value: collections[0]?.path });
		const items = h('textarea', { rows: 5, required: true, spellcheck: 'false' });
		items.value = '[\n  \n]';
		const seed = () =>
			attempt(async () => {
				await api.post('/seed', { [path.value]: JSON.parse(items.value) });
			}, 'The items were added.');
		return memoryPanel(
			'Seed',
			server,
			h(
				'datalist',
				{ id: 'collections' },
				collections.map((each) => h('option', { value: each.path })),
			),
			form(
				'Add items',
				[field('Collection', path), field('Items', items, 'A JSON array, as in the configuration.')],
				seed,
			),
		);
	};

	const start = async () => {
		const [server, { collections }] = await Promise.all([context.server(), api.get('/collections', signal)]);
		fill(
			root,
			h('h1', 'Steering'),
			h('div.panels', clockPanel(), faultPanel(), noncePanel(), statePanel(server), seedPanel(server, collections)),
		);
		await load();
		const tick = setInterval(showTime, 500);
		const poll = setInterval(() => {
			void Promise.all([api.get('/clock', signal).then(showClock), showFaults()]).catch(() => {});
		}, pollTime);
		signal.addEventListener('abort', () => {
			clearInterval(tick);
			clearInterval(poll);
		});
	};
	fill(root, h('h1', 'Steering'), h('p.empty', 'Loading…'));
	void attempt(start);
}
