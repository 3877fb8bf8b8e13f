/** A response of the control interface that reports an error, or the lack of one (status 0). */
export class ApiError extends Error {
	constructor(status, problem) {
		super(problem.detail ?? problem.title ?? `The server responded ${status}.`);
		this.status = status;
		this.problem = problem;
	}
}

/** The pause in ms between attempts to reach the server. */
const retryTime = 1000;
const tokenKey = 'countersign-token';

/** Returns the token from the fragment, which it removes from the address, or from the session; '' if there is none. */
export function takeToken() {
	const fragment = location.hash.slice(1);
	if (fragment !== '' && !fragment.startsWith('/')) {
		keepToken(decodeURIComponent(fragment));
		history.replaceState(null, '', '#/exchanges');
	}
	return sessionStorage.getItem(tokenKey) ?? '';
}

export function keepToken(token) {
	sessionStorage.setItem(tokenKey, token);
}

/** Calls the control interface with the token, and observes whether it can be reached. */
export class Api {
	state = 'connecting';
	#token;
	#listeners = new Set();

	constructor(token) {
		this.#token = token;
	}

	/** Calls a function with each new state, until the signal is aborted. */
	observe(listener, signal) {
		this.#listeners.add(listener);
		signal?.addEventListener('abort', () => this.#listeners.delete(listener));
	}

	/** Asks for the server again and again until it can be reached. */
	async reconnect() {
		while (this.state === 'disconnected') {
			await delay(retryTime);
			await this.get('/clock').catch(() => {});
		}
	}

	/**
	 * Resolves when the server can be reached again, or the signal is aborted.
	 * @returns {Promise<void>}
	 */
	reached(signal) {
		return new Promise((resolve) => {
			if (this.state === 'live') resolve();
			this.observe((state) => state === 'live' && resolve(), signal);
			signal.addEventListener('abort', resolve);
		});
	}

	/** Sends a request and returns the decoded JSON; undefined without content. Throws ApiError. */
	async call(method, path, content, signal) {
		const response = await this.#fetch(method, path, content, signal);
		const text = await response.text().catch(() => '');
		const value = text === '' ? undefined : parsed(text);
		if (response.ok) return value;
		if (response.status === 401) this.#become('unauthorised');
		throw new ApiError(response.status, value ?? {});
	}

	get(path, signal) {
		return this.call('GET', path, undefined, signal);
	}

	post(path, content, signal) {
		return this.call('POST', path, content, signal);
	}

	async #fetch(method, path, content, signal) {
		const headers = { Authorization: `Bearer ${this.#token}`, Accept: 'application/json' };
		if (content !== undefined) headers['Content-Type'] = 'application/json';
		const body = content === undefined ? null : JSON.stringify(content);
		try {
			const response = await fetch(path, {
				method,
				headers,
				body,
				signal: signal ?? null,
				cache: 'no-store',
			});
			if (response.status !== 401) this.#become('live');
			return response;
		} catch (error) {
			if (signal?.aborted) throw error;
			this.#become('disconnected');
			throw new ApiError(0, { detail: 'The server cannot be reached.' });
		}
	}

	#become(state) {
		if (state === this.state) return;
		this.state = state;
		for (const listener of this.#listeners) listener(state);
	}
}

function parsed(text) {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/**
 * Resolves after `ms` milliseconds, or when the signal is aborted.
 *
 * @returns {Promise<void>}
 */
export function delay(ms, signal) {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, ms);
		signal?.addEventListener('abort', () => {
			clearTimeout(timer);
			resolve();
		});
	});
}
