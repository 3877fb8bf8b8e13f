import type { Seeded } from '../seeded.ts';

type Drawn = Record<string, unknown>;

/** Declarations and values drawn at random, the values in the form in which they are kept. */
const names = [
  ...['a', 'b-1', 'título', 'constructor', 'toString', 'value', 'x.y', '_', 'hasOwnProperty', 'item'],
];
const text = 'ab <>&"\'\n\t\r]é漢\u{1f600}\u0085\u2028{}:,\\/';

/** The declarations of up to five fields, nested up to `depth` deep. */
export function drawFields(random: Seeded, depth: number, avoid: readonly string[] = []): Drawn {
  const fields: Drawn = {};
  for (let count = random.below(6); count > 0; count--) {
    const name = random.pick(names);
    if (!avoid.includes(name)) fields[name] = drawField(random, depth);
  }
  return fields;
}

function drawField(random: Seeded, depth: number, item = false): Drawn {
  const kind = depth > 0 ? random.below(4) : 0;
  const required = !item && random.below(2) === 0 ? { required: true } : {};
  if (kind === 2) {
    const fields = drawFields(random, depth - 1);
    return { type: 'element', fields, ...required, ...attributes(random, Object.keys(fields)) };
  }
  if (kind === 3) {
    const of = random.below(3) === 0 ? 'text' : drawField(random, depth - 1, true);
    return {
      type: 'list',
      of,
      item: random.pick(['item', 'e', 'constructor']),
      ...required,
      ...attributes(random, ['value']),
    };
  }
  return { ...drawSimple(random), ...required, ...attributes(random, ['value']) };
}

function drawSimple(random: Seeded): Drawn {
  const type = random.pick(['text', 'text', 'decimal', 'integer', 'boolean', 'date', 'dateTime', 'currency']);
  return type === 'decimal' ? { type, fractionDigits: random.below(4) } : { type };
}

function attributes(random: Seeded, avoid: readonly string[]): Drawn {
  if (random.below(3) > 0) return {};
  const drawn: Drawn = {};
  for (let count = 1 + random.below(3); count > 0; count--) {
    const name = random.pick(names);
    if (!avoid.includes(name)) drawn[name] = { ...drawSimple(random), required: random.below(2) === 0 };
  }
  return { attributes: drawn };
}

/** A value for these fields, as the store would have it. */
export function drawRecord(random: Seeded, fields: Drawn): Drawn {
  const record: Drawn = {};
  for (const [name, field] of Object.entries(fields)) {
    if (isObject(field) && (field['required'] === true || random.below(3) > 0))
      record[name] = drawValue(random, field);
  }
  return record;
}

function drawValue(random: Seeded, field: Drawn): unknown {
  const declared = field['attributes'];
  const given = isObject(declared) ? drawRecord(random, declared) : undefined;
  const fields = field['fields'];
  if (isObject(fields)) return { ...drawRecord(random, fields), ...given };
  const content = field['type'] === 'list' ? drawList(random, field['of']) : drawContent(random, field);
  // Attributes that are declared make an object of the value, even where none is declared but the map is there.
  if (given === undefined || !isObject(declared) || Object.keys(declared).length === 0) return content;
  return { value: content, ...given };
}

function drawList(random: Seeded, of: unknown): unknown[] {
  const field = isObject(of) ? of : { type: of };
  return Array.from({ length: random.below(4) }, () => drawValue(random, field));
}

function drawContent(random: Seeded, field: Drawn): unknown {
  const two = (limit: number, from = 0): string => String(from + random.below(limit)).padStart(2, '0');
  const date = (): string => `${1000 + random.below(9000)}-${two(12, 1)}-${two(28, 1)}`;
  switch (field['type']) {
    case 'decimal':
      return drawDecimal(random, Number(field['fractionDigits'] ?? 0));
    case 'integer':
      return random.pick([0, -1, 1, random.below(1e9), -random.below(1e9), Number.MAX_SAFE_INTEGER]);
    case 'boolean':
      return random.below(2) === 0;
    case 'date':
      return date();
    case 'dateTime':
      return `${date()}T${two(24)}:${two(60)}:${two(60)}${random.pick(['', '.5', '.000'])}${random.pick(['Z', '+01:30', '-12:00'])}`;
    case 'currency':
      return random.pick(['EUR', 'USD', 'JPY']);
    default:
      return random.text(text, 20);
  }
}

function drawDecimal(random: Seeded, fractionDigits: number): string {
  const digits = random.pick(['1', '90', '12345678901234567890']);
  const fraction = Array.from({ length: fractionDigits }, () => String(random.below(10))).join('');
  return random.pick(['', '-']) + digits + (fraction === '' ? '' : `.${fraction}`);
}

function isObject(value: unknown): value is Drawn {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
