import { ApiError, delay } from './api.js';

/** The number of entries that are loaded first, so the table appears at once. */
const firstPage = 100;
const page = 1000;
/** How long the server holds a request for the next entry, in ms. */
const patience = 10_000;
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
		const { number = 0, time } = this.#last ?? {};
		const { entries, first } = await this.#list({ after: number, limit: page, wait: patience });
		// The latest known entry is asked for again, which shows whether the journal is still the same.
		const known = number > 0 ? await this.#list({ after: number - 1, limit: 1 }) : { entries: [] };
		if (known.entries[0]?.time !== time) await this.#load();
		else if (entries.length > 0 || this.entries[0]?.number < first) {
			this.entries = [...this.entries.filter((entry) => entry.number >= first), ...entries];
			this.#onChange();
		}
		await delay(pause, this.#signal);
	}

	/** Forgets all entries, because the journal was emptied. */
	empty() {
		this.entries = [];
		this.#onChange();
	}

	#list(range) {
		return this.#api.post('/journal/list', range, this.#signal);
	}

	get #last() {
		return this.entries.at(-1);
	}
}
