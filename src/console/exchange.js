import { ApiError } from './api.js';
import { button, fill, h } from './dom.js';
import { dateTime, duration, indented, longShown, size, statusClass, stepNames, visible } from './format.js';
import { checksOf, signatureView } from './signature.js';

/**
 * @typedef {import('./router.js').Context} Context
 * @typedef {readonly (readonly [name: string, value: string])[]} Fields
 *
 * What `GET /journal/{number}` returns.
 * @typedef {object} Entry
 * @property {number} number
 * @property {number} time
 * @property {number} duration
 * @property {{ method: string, target: string, path: string, version: string, fields: Fields, length: number, text: string, peer: string, secure: boolean }} [request]
 * @property {string} [received]
 * @property {{ status: number, fields: Fields, text: string }} [reply]
 * @property {{ name: string, scheme: string }} [principal]
 * @property {string} [user]
 * @property {number} [step]
 * @property {{ type: string, detail: string }} [problem]
 * @property {import('./signature.js').Verification} [auth]
 * @property {object} [fault]
 * @property {boolean} aborted
 * @property {import('./signature.js').Presented} presented
 */

/** Shows one exchange. */
export class ExchangePane {
  element = h('section', { class: 'detail', 'aria-label': 'One exchange' });
  #context;
  #close;
  /** @type {Entry | undefined} */
  #entry;
  #sequence = 0;
  #heading = h('h2', { tabindex: -1 });

  /**
   * @param {Context} context
   * @param {() => void} close
   */
  constructor(context, close) {
    this.#context = context;
    this.#close = close;
    this.element.hidden = true;
  }

  /** Moves the focus to the heading. */
  focus() {
    this.#heading.focus();
  }

  /**
   * @param {number | undefined} number
   * @param {string | undefined} tab
   */
  async show(number, tab) {
    const sequence = ++this.#sequence;
    this.element.hidden = number === undefined;
    if (number === undefined) return;
    if (this.#entry?.number !== number) {
      try {
        this.#entry = await this.#context.api.get(`/journal/${number}`, this.#context.signal);
      } catch (error) {
        if (sequence === this.#sequence && error instanceof ApiError) this.#showMissing(number, error);
        return;
      }
    }
    if (sequence === this.#sequence && this.#entry !== undefined) this.#render(this.#entry, tab);
  }

  /**
   * @param {number} number
   * @param {ApiError} error
   */
  #showMissing(number, error) {
    this.#entry = undefined;
    fill(this.#heading, `Exchange #${number}`);
    const text =
      error.status === 404
        ? 'The journal does not contain it: it was dropped, deleted, or never written.'
        : error.message;
    fill(this.element, this.#head([]), h('p', { class: 'error' }, text));
  }

  /**
   * @param {Entry} entry
   * @param {string | undefined} tab
   */
  #render(entry, tab) {
    const { request, number } = entry;
    const subject = request === undefined ? 'Unparsable request' : `${request.method} ${request.target}`;
    fill(this.#heading, ...visible(subject.slice(0, 400)), subject.length > 400 && '…');
    const isSignature = tab === 'signature';
    const tabs = h(
      'nav',
      { class: 'tabs', 'aria-label': 'Parts of the exchange' },
      tabLink('Exchange', `#/exchanges/${number}`, !isSignature),
      tabLink('Signature', `#/exchanges/${number}/signature`, isSignature),
    );
    const content = isSignature ? signatureView(entry) : exchangeView(entry);
    fill(
      this.element,
      this.#head([factsOf(entry), this.#actions(entry), tabs]),
      h('div', { class: 'content' }, ...content),
    );
    this.element.scrollTop = 0;
  }

  /** @param {import('./dom.js').Child[]} children */
  #head(children) {
    const close = button('✕', this.#close, {
      class: 'quiet close',
      'aria-label': 'Close (Escape)',
      title: 'Close (Escape)',
    });
    return h('header', {}, h('div', { class: 'title' }, this.#heading, close), ...children);
  }

  /** @param {Entry} entry */
  #actions({ number }) {
    return h(
      'div',
      { class: 'actions' },
      button('Resend', () => this.#resend(number), {
        title: 'Sends the same bytes again, with the same credentials',
      }),
      button('Edit and resend', () => this.#context.go(`/send?entry=${number}`)),
      button('Copy as curl', () => this.#copy(this.#curl())),
      button('Copy link', () =>
        this.#copy(Promise.resolve({ text: `${location.origin}/#/exchanges/${number}` })),
      ),
    );
  }

  /** @param {number} number */
  async #resend(number) {
    const { api, go, notify } = this.#context;
    try {
      const { entry, ended, error } = await api.post('/send', { entry: number });
      if (entry === undefined) notify(`No response: ${error ?? ended}.`, 'error');
      else {
        notify(`Sent again, as #${entry}.`);
        go(`/exchanges/${entry}`);
      }
    } catch (error) {
      notify(error instanceof Error ? error.message : String(error), 'error');
    }
  }

  /** @param {Promise<{ text: string, note?: string | undefined }>} copied */
  async #copy(copied) {
    try {
      const { text, note } = await copied;
      await navigator.clipboard.writeText(text);
      this.#context.notify(`Copied. ${note ?? ''}`);
    } catch {
      this.#context.notify('The browser does not allow this page to copy.', 'error');
    }
  }

  async #curl() {
    const { url = '', secureUrl = '' } = await this.#context.server();
    const entry = this.#entry;
    if (entry?.request === undefined) return { text: '', note: 'The request could not be parsed.' };
    return curlOf(entry, entry.request.secure ? secureUrl : url);
  }
}

/**
 * @param {string} label
 * @param {string} href
 * @param {boolean} current
 */
function tabLink(label, href, current) {
  return h('a', { href, 'aria-current': current && 'true' }, label);
}

/** @param {Entry} entry */
function factsOf({ number, time, duration: ms, request, reply, user, principal, auth, aborted }) {
  const scheme = principal?.scheme ?? auth?.scheme;
  const facts = [
    h('span', { class: `badge ${statusClass(reply?.status)}` }, reply?.status ?? 'No response'),
    `#${number}`,
    dateTime(time),
    duration(ms),
    user === undefined ? 'anonymous' : h('span', {}, ...visible(user.slice(0, 100))),
    scheme,
    request && (request.secure ? 'HTTPS' : 'HTTP'),
    request?.peer,
    aborted && 'client disconnected',
  ];
  return h('ul', { class: 'facts' }, ...facts.filter(Boolean).map((fact) => h('li', {}, fact)));
}

/** @param {Entry} entry */
function exchangeView(entry) {
  const { request, received, reply } = entry;
  return [
    verdictOf(entry),
    h('h3', {}, 'Decision'),
    stepsOf(entry),
    h('h3', {}, 'Request'),
    request === undefined
      ? h('pre', { class: 'wire', tabindex: 0, 'aria-label': 'Received bytes' }, longShown(received ?? ''))
      : message(
          `${request.method} ${request.target} HTTP/${request.version}`,
          request.fields,
          request.text,
          request.length,
        ),
    h('h3', {}, 'Response'),
    reply === undefined
      ? h('p', { class: 'empty' }, 'None: the connection ended without one.')
      : message(`HTTP/1.1 ${reply.status}`, reply.fields, reply.text),
  ];
}

/**
 * Returns what decided the response, in one box.
 *
 * @param {Entry} entry
 */
function verdictOf(entry) {
  const { step, problem, fault, reply, auth, number } = entry;
  if (fault !== undefined)
    return h(
      'div',
      { class: 'verdict fault' },
      h(
        'p',
        {},
        h('strong', {}, 'A planned fault was applied. '),
        step === undefined && 'The service did not decide.',
      ),
      h('pre', { class: 'wire' }, longShown(JSON.stringify(fault, null, 2))),
    );
  if (problem === undefined)
    return h('p', { class: 'verdict good' }, `Answered at step ${step}, ${nameOf(step)}.`);
  const { hint } = auth ?? {};
  return h(
    'div',
    { class: `verdict ${statusClass(reply?.status)}` },
    h('p', {}, h('strong', {}, `Refused at step ${step}, ${nameOf(step)}: `), h('code', {}, problem.type)),
    h('p', {}, longShown(problem.detail)),
    hint !== undefined && h('p', { class: 'why' }, 'Likely cause: ', longShown(hint), '.'),
    auth?.failedAt !== undefined &&
      h('p', {}, h('a', { href: `#/exchanges/${number}/signature` }, 'See the signature explained')),
  );
}

/** @param {number | undefined} step */
function nameOf(step) {
  return stepNames[step ?? -1] ?? '';
}

/** @param {Entry} entry */
function stepsOf({ step, problem, auth }) {
  const items = stepNames.map((name, at) => {
    const state = stateOf(at, step, problem !== undefined);
    const mark = { passed: '✓', answered: '✓', refused: '✗', skipped: '' }[state];
    const said = {
      passed: 'passed',
      answered: 'answered here',
      refused: 'refused here',
      skipped: 'not reached',
    }[state];
    return h(
      'li',
      { class: state, 'aria-current': at === step && 'step' },
      h('span', { class: 'mark', 'aria-hidden': 'true' }, mark),
      h('span', { class: 'index' }, at),
      h('span', {}, name, h('span', { class: 'visually-hidden' }, `: ${said}`)),
    );
  });
  const checks =
    auth === undefined ? [] : [h('p', { class: 'checks-title' }, 'Checks of step 7'), checksOf(auth)];
  return h('div', {}, h('ol', { class: 'steps' }, ...items), ...checks);
}

/**
 * @param {number} at
 * @param {number | undefined} step
 * @param {boolean} refused
 * @returns {'passed' | 'answered' | 'refused' | 'skipped'}
 */
function stateOf(at, step, refused) {
  if (step === undefined || at > step) return 'skipped';
  if (at < step) return 'passed';
  return refused ? 'refused' : 'answered';
}

/**
 * Shows a message as on the wire, with its content indented if it is XML or JSON.
 *
 * @param {string} startLine
 * @param {Fields} fields
 * @param {string} text
 * @param {number} [length] the number of bytes of content
 */
function message(startLine, fields, text, length) {
  const type = fields.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const lines = fields.flatMap(([name, value]) => [
    h('span', { class: 'name' }, ...visible(name)),
    ': ',
    longShown(value, value === '[redacted]' ? 'redacted' : ''),
    '\n',
  ]);
  const start = h('span', { class: 'start' }, longShown(startLine));
  const head = h('pre', { class: 'wire', tabindex: 0, 'aria-label': 'Head' }, start, '\n', ...lines);
  return h('div', { class: 'message' }, head, text !== '' && bodyOf(text, type, length));
}

/**
 * @param {string} text
 * @param {string} type
 * @param {number} [length]
 */
function bodyOf(text, type, length) {
  const pretty = indented(text, type);
  const pre = h('pre', { class: 'wire body', tabindex: 0, 'aria-label': 'Content' });
  const show = (/** @type {string} */ shown) => fill(pre, longShown(shown));
  show(pretty);
  const toggle = button(
    'Indented',
    () => {
      const isIndented = toggle.getAttribute('aria-pressed') === 'true';
      toggle.setAttribute('aria-pressed', String(!isIndented));
      show(isIndented ? text : pretty);
    },
    { class: 'quiet', 'aria-pressed': 'true' },
  );
  const recorded = new TextEncoder().encode(text).length;
  const cut = length !== undefined && length > recorded && `, the first ${size(recorded)} recorded`;
  const facts = [...visible(type || 'no Content-Type'), `, ${size(length ?? recorded)}`, cut];
  return h(
    'div',
    { class: 'content-box' },
    h('p', { class: 'body-facts' }, h('span', {}, ...facts), pretty !== text && toggle),
    pre,
  );
}

const ownFields = /^(?:content-length|connection|transfer-encoding)$/i;

/**
 * Returns the command that sends the request again. Credentials are redacted in the journal, so they must be added.
 *
 * @param {Entry} entry
 * @param {string} origin
 */
function curlOf({ request, principal, auth, user }, origin) {
  if (request === undefined) return { text: '' };
  const { method, target, fields, text, secure } = request;
  const words = ['curl', '--include', '--path-as-is', '--globoff'];
  if (secure) words.push('--insecure');
  words.push(...(method === 'HEAD' ? ['--head'] : ['--request', quoted(method)]));
  const scheme = principal?.scheme ?? auth?.scheme;
  let note;
  for (const [name, value] of fields) {
    if (ownFields.test(name) || (/^host$/i.test(name) && origin.endsWith(`//${value}`))) continue;
    if (value !== '[redacted]') words.push('--header', quoted(`${name}: ${value}`));
    else if (scheme === 'basic') {
      words.push('--user', quoted(`${user}:PASSWORD`));
      note = 'Replace PASSWORD.';
    } else if (scheme === 'bearer') {
      words.push('--header', '"Authorization: Bearer $TOKEN"');
      note = 'Set TOKEN.';
    } else note = `${name} is left out, because the journal redacts it.`;
  }
  if (text !== '') words.push('--data-binary', quoted(text));
  words.push(quoted(/^[a-z][a-z0-9+.-]*:\/\//i.test(target) ? target : origin + target));
  return { text: words.join(' '), note };
}

/** @param {string} text */
function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
