/** What the functions on lists share: reading the elements of a row, and building lists of elements that other columns hold. */
import type { Column, ListColumn } from '../../batch/column.ts';
import { bitmapBytes, isValid, setBit } from '../../batch/column.ts';
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

/** Builds a list column row by row out of elements of several columns of one type. */
export class ListMaker {
  readonly #pieces: readonly Column[];
  readonly #bases: readonly number[];
  readonly #indices: number[] = [];
  readonly #offsets: Int32Array;
  readonly #validity: Uint8Array;
  #rows = 0;

  constructor(rows: number, pieces: readonly Column[]) {
    this.#pieces = pieces;
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
    this.#indices.push(index < 0 ? -1 : (this.#bases[piece] as number) + index);
  }

  /** Elements [from, to) of a piece. */
  pushAll(piece: number, from: number, to: number): void {
    for (let index = from; index < to; index++) this.push(piece, index);
  }

  /** How many elements the row has so far. */
  get count(): number {
    return this.#indices.length - (this.#offsets[this.#rows] as number);
  }

  endRow(present = true): void {
    if (present) setBit(this.#validity, this.#rows);
    this.#offsets[++this.#rows] = this.#indices.length;
  }

  finish(type: SqlType): ListColumn {
    const indices = Int32Array.from(this.#indices);
    const joined = concatColumns(this.#pieces);
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
  (args, rows, _errors, type) => {
    const maker = new ListMaker(rows, piecesOf(args, patterns));
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
