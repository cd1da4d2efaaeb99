/**
 * Which expressions are keys of a grouping. What an alias or a position names is that very expression of the SELECT list, and
 * of several equal ones each is a key of its own; elsewhere an equal text means a key, unless it is a constant.
 */
import type { Expression } from '../../src/sql/ast-expression.ts';

/** Equal expressions have equal texts, wherever they stand. */
const shapeOf = (expression: Expression): string =>
  JSON.stringify(expression, (key, value: unknown) =>
    key === 'span' || key === 'operatorSpan' ? undefined : value,
  );

const isConstant = (key: Expression): boolean => !shapeOf(key).includes('"tag":"path"');

export class Keys {
  readonly #own: ReadonlySet<Expression>;
  readonly #shapes: ReadonlySet<string>;

  /** @param except  shapes that are others' already */
  constructor(keys: readonly Expression[], except: Keys | null = null) {
    this.#own = new Set(keys);
    this.#shapes = new Set(
      keys
        .filter((key) => !isConstant(key))
        .map(shapeOf)
        .filter((shape) => except === null || !except.#shapes.has(shape)),
    );
  }

  get size(): number {
    return this.#own.size;
  }

  named(expression: Expression): boolean {
    return this.#own.has(expression);
  }

  meant(expression: Expression): boolean {
    return this.#shapes.size > 0 && this.#shapes.has(shapeOf(expression));
  }
}

export const NO_KEYS = new Keys([]);
