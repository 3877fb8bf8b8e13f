import assert from 'node:assert/strict';

/** A change that was sent, and what is known of it. Times count what was sent and answered, in its order. */
export interface Sent {
  readonly kind: 'put' | 'delete';
  /** What marks its content; '' for a deletion. */
  readonly mark: string;
  readonly at: number;
  /** When it was known to be made; Infinity as long as it is not. */
  made: number;
}

/**
 * What was asked of a server, to tell whether what it holds after a crash can be: whatever was answered, or seen by
 * anybody, is there unless something later took its place; what was not is there wholly or not at all.
 */
export class Ledger {
  #time = 0;
  /** The changes of each item, since the contents were last known. */
  readonly #items = new Map<string, Sent[]>();
  /** Creations of which no id is known. */
  readonly #nameless = new Map<string, Sent>();
  readonly #picked = new Set<string>();
  readonly #chosen = new Set<string>();
  readonly #tags = new Map<string, string>();
  readonly #marks = new Map<string, string>();
  #contents: ReadonlyMap<string, string> = new Map();
  #present: readonly string[] = [];
  #touched = new Set<string>();

  /** The items that were there last. */
  get present(): readonly string[] {
    return this.#present;
  }

  /** The items that a change was sent to, or that were made, since the contents were last known. */
  get touched(): readonly string[] {
    return [...this.#touched];
  }

  /** Puts a change down before it is sent; without an id for a creation. */
  sending(kind: Sent['kind'], mark: string, id?: string): Sent {
    this.#time += 1;
    const sent: Sent = { kind, mark, at: this.#time, made: Number.POSITIVE_INFINITY };
    if (id === undefined) this.#nameless.set(mark, sent);
    else this.#of(id).push(sent);
    if (id !== undefined && !this.#picked.has(id)) this.#chosen.add(id);
    return sent;
  }

  /** It was answered that the change was made. */
  made(sent: Sent): void {
    this.#time += 1;
    sent.made = Math.min(sent.made, this.#time);
  }

  /** It was answered that an item was made under this id. */
  created(sent: Sent, id: string): void {
    this.#name(sent, id);
    this.made(sent);
  }

  /** It was answered that the change was not made. */
  refused(sent: Sent, id?: string): void {
    if (id === undefined) this.#nameless.delete(sent.mark);
    else
      this.#items.set(
        id,
        this.#of(id).filter((other) => other !== sent),
      );
  }

  /** An item was seen with this content and entity tag. */
  seen(id: string, mark: string, tag: string): void {
    const sent = this.#of(id).find((each) => each.mark === mark) ?? this.#nameless.get(mark);
    assert.ok(sent !== undefined, `${id} has ${mark}, which nobody put there`);
    if (this.#nameless.has(mark)) this.#name(sent, id);
    this.made(sent);
    this.tagged(mark, tag);
  }

  /** This content has this entity tag, and no other has. */
  tagged(mark: string, tag: string): void {
    const before = this.#marks.get(mark);
    assert.ok(before === undefined || before === tag, `the tag of ${mark} was ${before}, and is ${tag}`);
    const other = this.#tags.get(tag);
    assert.ok(
      other === undefined || other === mark,
      `${tag} was the tag of ${other}, and is that of ${mark}`,
    );
    this.#marks.set(mark, tag);
    this.#tags.set(tag, mark);
  }

  /** The entity tag that an item had when the contents were last known, if anybody saw it. */
  findTag(id: string): string | undefined {
    return this.#marks.get(this.#contents.get(id) ?? '');
  }

  /** Throws AssertionError if these cannot be the contents, by id. From now on they are known. */
  settle(contents: ReadonlyMap<string, string>): void {
    const marks = [...contents.values()];
    assert.equal(new Set(marks).size, marks.length, 'a change was made twice');
    for (const [id, mark] of contents) {
      const sent = this.#nameless.get(mark);
      if (sent !== undefined) this.#name(sent, id);
    }
    for (const id of new Set([...this.#items.keys(), ...contents.keys()]))
      judge(id, this.#items.get(id) ?? [], contents.get(id));
    this.#begin(contents);
  }

  #begin(contents: ReadonlyMap<string, string>): void {
    for (const id of this.#items.keys()) {
      const mark = contents.get(id);
      const kind = mark === undefined ? 'delete' : 'put';
      this.#items.set(id, [{ kind, mark: mark ?? '', at: 0, made: 0 }]);
    }
    this.#nameless.clear();
    this.#contents = contents;
    this.#present = [...contents.keys()];
    this.#touched = new Set();
  }

  #name(sent: Sent, id: string): void {
    assert.ok(!this.#picked.has(id) && !this.#chosen.has(id), `${id} was picked though it had been used`);
    this.#picked.add(id);
    this.#nameless.delete(sent.mark);
    this.#items.set(id, [sent]);
    this.#touched.add(id);
  }

  #of(id: string): Sent[] {
    this.#touched.add(id);
    const there = this.#items.get(id);
    if (there !== undefined) return there;
    const nothing: Sent[] = [{ kind: 'delete', mark: '', at: 0, made: 0 }];
    this.#items.set(id, nothing);
    return nothing;
  }
}

/** Throws AssertionError if an item cannot be so; without a mark it is not there. */
function judge(id: string, changes: readonly Sent[], mark: string | undefined): void {
  const formatFailure = (): string => `${id} is ${mark ?? 'gone'} after ${JSON.stringify(changes)}`;
  const isLost = (one: Sent): boolean =>
    changes.some((other) => other !== one && other.made !== Number.POSITIVE_INFINITY && other.at > one.made);
  const reasons =
    mark === undefined
      ? changes.filter(({ kind }) => kind === 'delete')
      : changes.filter((change) => change.mark === mark);
  assert.ok(reasons.length > 0, `nobody made that: ${formatFailure()}`);
  assert.ok(!reasons.every(isLost), `a change that was acknowledged is lost: ${formatFailure()}`);
}
