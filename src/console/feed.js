import { ApiError, delay } from './api.js';

/** An entry of `POST /journal/list`. */

/** The number of entries that are loaded first, so that the table appears at once. */
const firstPage = 100;
const page = 1000;
/** How long the server holds a request for the next entry, in ms. */
const patience = 25_000;
/** The pause in ms after an entry, in which further ones are collected. */
const pause = 100;
const shortestRetry = 500;
const longestRetry = 5000;

/** The entries of the journal, kept up to date by long polling. */
export class Feed {
	entries = [];
	/** Whether the latest entries have been loaded. */
	loaded = false;
	#api;
	#signal;
	#onChange;

	constructor(api, signal, onChange) {
		this.#api = api;
		this.#signal = signal;
		this.#onChange = onChange;
	}

	/** Loads the entries and follows the journal until the signal is aborted. A lost connection is tried again. */
	async follow() {
		let retry = shortestRetry;
		while (!this.#signal.aborted && this.#api.state !== 'unauthorised') {
			try {
				if (!this.loaded) await this.#load();
				await this.#next();
				retry = shortestRetry;
			} catch (error) {
				if (!(error instanceof ApiError)) {
					if (this.#signal.aborted) return;
					throw error;
				}
				this.loaded = false;
				await delay(retry, this.#signal);
				retry = Math.min(retry * 2, longestRetry);
			}
		}
	}

	/** Loads the latest entries, and then the earlier ones. */
	async #load() {
		const { entries } = await this.#list({ limit: firstPage });
		this.entries = entries;
		this.loaded = true;
		this.#onChange();
		while (this.entries.length >= firstPage) {
			const { entries: earlier } = await this.#list({ before: this.entries[0]?.number ?? 0, limit: page });
			if (earlier.length === 0) return;
			this.entries = [...earlier, ...this.entries];
			this.#onChange();
		}
	}

	/** Waits for the next entry, and adds all that have come since the last. */
	async #next() {
		await this.#api
			.post('/journal/wait', { match: {}, timeout: patience, after: this.#last?.number ?? 0 }, this.#signal)
			.catch((error) => {
				// There was no entry in this time.
				if (!(error instanceof ApiError && error.status === 404)) throw error;
			});
		await this.#catchUp();
		await delay(pause, this.#signal);
	}

	async #catchUp() {
		const known = this.#last;
		// The latest known entry comes again, which shows whether the journal is still the same.
		const { entries, first } = await this.#list({ after: (known?.number ?? 1) - 1, limit: page });
		const added = known === undefined ? entries : entries.slice(1);
		if (first === undefined) this.#replace([]);
		else if (known !== undefined && (entries[0]?.number !== known.number || entries[0].time !== known.time))
			await this.#load();
		else if (added.length > 0 || (this.entries[0]?.number ?? 0) < first)
			this.#replace([...this.entries.filter(({ number }) => number >= first), ...added]);
		if (entries.length === page) await this.#catchUp();
	}

	#replace(entries) {
		if (entries.length === 0 && this.entries.length === 0) return;
		this.entries = entries;
		this.#onChange();
	}

	#list(range) {
		return this.#api.post('/journal/list', range, this.#signal);
	}

	get #last() {
		return this.entries.at(-1);
	}
}
