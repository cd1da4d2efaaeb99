/** Small numbers for large values: equal texts have equal numbers, so that states compare and hash as integers. */
export class Interner<T> {
  readonly #numbers = new Map<string, number>();
  readonly #values: T[] = [];

  /** The number of `text`; `make` builds the value when the text is new. */
  intern(text: string, make: () => T): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#values.length;
    this.#numbers.set(text, number);
    this.#values.push(make());
    return number;
  }

  value(number: number): T {
    const value = this.#values[number];
    if (value === undefined) throw new Error(`nothing has number ${number}`);
    return value;
  }

  get size(): number {
    return this.#values.length;
  }
}
