/** The columns of Nexmark tables, named as Arroyo names them. */
import {
  INT64,
  TEXT,
  TIMESTAMP,
  type Field,
  type Schema,
  type SqlType,
} from '../../batch/types.ts';
import type { NexmarkKind } from './generator.ts';

const field = (name: string, type: SqlType): Field => ({ name, type, nullable: false });

export const NEXMARK_FIELDS: Readonly<Record<NexmarkKind, Schema>> = {
  person: [
    field('id', INT64),
    field('name', TEXT),
    field('email_address', TEXT),
    field('credit_card', TEXT),
    field('city', TEXT),
    field('state', TEXT),
    field('datetime', TIMESTAMP),
    field('extra', TEXT),
  ],
  auction: [
    field('id', INT64),
    field('item_name', TEXT),
    field('description', TEXT),
    field('initial_bid', INT64),
    field('reserve', INT64),
    field('datetime', TIMESTAMP),
    field('expires', TIMESTAMP),
    field('seller', INT64),
    field('category', INT64),
    field('extra', TEXT),
  ],
  bid: [
    field('auction', INT64),
    field('bidder', INT64),
    field('price', INT64),
    field('channel', TEXT),
    field('url', TEXT),
    field('datetime', TIMESTAMP),
    field('extra', TEXT),
  ],
};

export const NEXMARK_KINDS: readonly NexmarkKind[] = ['person', 'auction', 'bid'];

/** Without the option `table`: a row is one event, exactly one of its three structs is present. */
export const NEXMARK_SCHEMA: Schema = NEXMARK_KINDS.map((kind) => ({
  name: kind,
  type: { tag: 'struct', fields: NEXMARK_FIELDS[kind] },
  nullable: true,
}));
