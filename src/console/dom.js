/**
 * @typedef {Node | string | number | false | null | undefined} Child
 * @typedef {Record<string, unknown>} Attributes
 */

/**
 * Creates an element. All text becomes text nodes, so what the server sends is never markup.
 *
 * @example h('button', { class: 'primary', onclick: send, disabled: false }, 'Send')
 * @param {string} name
 * @param {Attributes} [attributes] a function is a listener, `true` an attribute without a value; false and undefined are omitted
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  setAttributes(element, attributes);
  element.append(...nodesOf(children));
  return element;
}

/**
 * Creates an element of SVG.
 *
 * @param {string} name
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  setAttributes(element, attributes);
  element.append(...nodesOf(children));
  return element;
}

/**
 * Replaces the content of an element.
 *
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...nodesOf(children));
}

/**
 * Creates a labelled form control: `label` is its accessible name.
 *
 * @param {string} label
 * @param {HTMLElement} control
 * @param {string} [hint] a description below the control
 * @returns {HTMLElement}
 */
export function field(label, control, hint) {
  control.id ||= newId();
  if (hint !== undefined) control.setAttribute('aria-describedby', `${control.id}-hint`);
  return h(
    'div',
    { class: 'field' },
    h('label', { for: control.id }, label),
    control,
    hint !== undefined && h('p', { id: `${control.id}-hint`, class: 'hint' }, hint),
  );
}

/**
 * Creates a select element.
 *
 * @param {readonly (readonly [value: string, label: string])[]} options
 * @param {Attributes} [attributes]
 * @param {string} [value] the selected value
 * @returns {HTMLSelectElement}
 */
export function select(options, attributes = {}, value = undefined) {
  const element = /** @type {HTMLSelectElement} */ (h('select', attributes));
  setOptions(element, options, value);
  return element;
}

/**
 * Replaces the options of a select element, and keeps its value if there is still such an option.
 *
 * @param {HTMLSelectElement} element
 * @param {readonly (readonly [value: string, label: string])[]} options
 * @param {string} [value]
 */
export function setOptions(element, options, value = element.value) {
  fill(element, ...options.map(([each, label]) => h('option', { value: each }, label)));
  element.value = options.some(([each]) => each === value) ? value : (options[0]?.[0] ?? '');
}

/**
 * Creates a button.
 *
 * @param {string} label
 * @param {(event: Event) => unknown} onclick
 * @param {Attributes} [attributes]
 * @returns {HTMLButtonElement}
 */
export function button(label, onclick, attributes = {}) {
  return /** @type {HTMLButtonElement} */ (h('button', { type: 'button', onclick, ...attributes }, label));
}

let ids = 0;

/** Returns an id that no other element has. */
export function newId() {
  ids += 1;
  return `id-${ids}`;
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 */
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function')
      element.addEventListener(name.replace(/^on/, ''), /** @type {EventListener} */ (value));
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function nodesOf(children) {
  return children.flat().flatMap((child) => {
    if (child === undefined || child === null || child === false) return [];
    return [child instanceof Node ? child : String(child)];
  });
}
