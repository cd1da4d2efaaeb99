/** What the functions on lists share: reading the elements of a row, and building lists of elements that other columns hold. */
import type { Column, ListColumn } from '../../batch/column.ts';
import { bitmapBytes, isValid, setBit } from '../../batch/column.ts';
import { fixedBytes, nullBytes, valueBytes } from '../../batch/batch-bytes.ts';
import { LIMITS } from '../../base/limits.ts';
import { concatColumns } from '../../batch/concat.ts';
import { compareValues } from '../../batch/row-equal.ts';
import { takeColumn } from '../../batch/take.ts';
import type { ListType, SqlType } from '../../batch/types.ts';
import { listType } from '../../batch/types.ts';
import type {
  ArgumentPattern,
  Evaluate,
  FunctionExample,
  ScalarFunction,
} from '../function-types.ts';
import type { RowErrors } from '../row-errors.ts';
import { isPresent, strideOf } from '../vector.ts';

export const elementOf = (type: SqlType): SqlType => (type as ListType).element;

/** Where the elements of a row begin in the list's child, and where they end. */
export const startOf = (list: ListColumn, row: number): number =>
  list.offsets[row * strideOf(list)] as number;
export const endOf = (list: ListColumn, row: number): number =>
  list.offsets[row * strideOf(list) + 1] as number;
export const sizeOf = (list: ListColumn, row: number): number =>
  endOf(list, row) - startOf(list, row);

export const equal = (left: Column, at: number, right: Column, other: number): boolean =>
  compareValues(left, at, right, other) === 0;

/** What an element weighs at least while lists are made: its index. */
const INDEX_BYTES = 8;

/**
 * Builds a list column row by row out of elements of several columns of one type. A list that would be too large is NULL, and an
 * error of its row.
 */
export class ListMaker {
  readonly #errors: RowErrors;
  /** Of each element; 0: they differ. */
  readonly #elementBytes: number;
  readonly #nullBytes: number;
  #rowBytes = 0;
  #bytes = 0;
  readonly #pieces: readonly Column[];
  readonly #bases: readonly number[];
  readonly #indices: number[] = [];
  readonly #offsets: Int32Array;
  readonly #validity: Uint8Array;
  #rows = 0;

  constructor(rows: number, pieces: readonly Column[], errors: RowErrors) {
    this.#pieces = pieces;
    this.#errors = errors;
    this.#nullBytes = Math.max(1, pieces[0] === undefined ? 1 : nullBytes(pieces[0]));
    this.#elementBytes = pieces[0] === undefined ? 1 : fixedBytes(pieces[0]);
    let size = 0;
    this.#bases = pieces.map(({ length }) => {
      const base = size;
      size += length;
      return base;
    });
    this.#offsets = new Int32Array(rows + 1);
    this.#validity = new Uint8Array(bitmapBytes(rows));
  }

  /** Element `index` of a piece; -1 is NULL. */
  push(piece: number, index: number): void {
    this.#rowBytes +=
      this.#elementBytes > 0
        ? this.#elementBytes
        : index < 0
          ? this.#nullBytes
          : Math.max(1, valueBytes(this.#pieces[piece] as Column, index));
    if (this.isFull) return;
    this.#indices.push(index < 0 ? -1 : (this.#bases[piece] as number) + index);
  }

  /** Elements [from, to) of a piece. */
  pushAll(piece: number, from: number, to: number): void {
    for (let index = from; index < to && !this.isFull; index++) this.push(piece, index);
  }

  /** Nothing more fits into the row: whoever has many elements to push may stop. */
  get isFull(): boolean {
    return this.#rowBytes > LIMITS.valueBytesMax;
  }

  /** How many elements the row has so far. */
  get count(): number {
    return this.#indices.length - (this.#offsets[this.#rows] as number);
  }

  endRow(present = true): void {
    if (this.isFull) {
      this.#errors.tooLarge(this.#rows, 'list');
      this.#indices.length = this.#offsets[this.#rows] as number;
    } else {
      if (present) setBit(this.#validity, this.#rows);
      this.#bytes += this.#rowBytes + this.count * INDEX_BYTES;
      this.#errors.expect(this.#bytes);
    }
    this.#rowBytes = 0;
    this.#offsets[++this.#rows] = this.#indices.length;
  }

  finish(type: SqlType): ListColumn {
    const indices = Int32Array.from(this.#indices);
    const joined = concatColumns(this.#pieces);
    this.#errors.spend(this.#bytes);
    return {
      tag: 'list',
      type: type as ListType,
      length: this.#rows,
      validity: this.#validity,
      offsets: this.#offsets,
      child: takeColumn(joined, indices, indices.length),
    };
  }
}

export type EachList = (maker: ListMaker, row: number, args: readonly Column[]) => void;

/** The columns that elements come from: the children of lists, and the elements that are arguments themselves. */
const piecesOf = (args: readonly Column[], patterns: readonly ArgumentPattern[]): Column[] =>
  args.flatMap((column, at) => {
    const pattern = patterns[Math.min(at, patterns.length - 1)];
    if (pattern === 'element') return [column];
    return column.tag === 'list' && pattern !== 'list' ? [column.child] : [];
  });

/** Lists row by row; a row in which one of the arguments in `required` is NULL is NULL. */
export const eachList =
  (patterns: readonly ArgumentPattern[], required: readonly number[], each: EachList): Evaluate =>
  (args, rows, errors, type) => {
    const maker = new ListMaker(rows, piecesOf(args, patterns), errors);
    for (let row = 0; row < rows; row++) {
      const present = required.every((at) => args[at] === undefined || isPresent(args[at], row));
      if (present) each(maker, row, args);
      maker.endRow(present);
    }
    return maker.finish(type);
  };

/** Whether an element occurs among elements [from, to) of a column. */
export function occurs(
  child: Column,
  from: number,
  to: number,
  other: Column,
  at: number,
): boolean {
  for (let index = from; index < to; index++) if (equal(child, index, other, at)) return true;
  return false;
}

/** Whether element `index` is the first of its value in the row that begins at `from`. */
export const isFirst = (child: Column, from: number, index: number): boolean =>
  !occurs(child, from, index, child, index);

export const isNullAt = (column: Column, index: number): boolean => !isValid(column, index);

type ListRecord = {
  id?: string;
  name: string;
  args: readonly ArgumentPattern[];
  rest?: ArgumentPattern;
  result: ScalarFunction['result'];
  doc: string;
  example: FunctionExample | null;
  evaluate: Evaluate;
  canFail?: boolean;
  mayBeNull?: boolean;
};

/** The record of a function on lists. */
export const listFunction = ({
  id,
  name,
  rest,
  example,
  canFail = false,
  mayBeNull = false,
  ...more
}: ListRecord): ScalarFunction => ({
  id: id ?? name.replaceAll('_', '-'),
  name,
  nullRule: 'custom',
  canFail,
  mayBeNull,
  examples: example === null ? [] : [example],
  ...(rest === undefined ? {} : { rest }),
  ...more,
});

/** The type of the first argument that is a list. */
export const asList = (args: readonly SqlType[]): SqlType =>
  args.find(({ tag }) => tag === 'list') ?? listType(args[0] as SqlType);
