/** Writes the event a generator drew last into column builders, one per field and null where nobody wants the field. */
import { assert } from '../../base/assert.ts';
import { Int64Builder, TextBuilder, type ColumnBuilder } from '../../batch/column-builder.ts';
import type { NexmarkGenerator } from './generator.ts';
import type { Scratch } from './random.ts';

export type FieldBuilders = readonly (ColumnBuilder | null)[];

/** `fields` are in the order of `NEXMARK_FIELDS[generator.kind]`. */
export function writeEvent(generator: NexmarkGenerator, fields: FieldBuilders): void {
  switch (generator.kind) {
    case 'person':
      return writePerson(generator, fields);
    case 'auction':
      return writeAuction(generator, fields);
    case 'bid':
      return writeBid(generator, fields);
  }
}

function writePerson(event: NexmarkGenerator, fields: FieldBuilders): void {
  whole(fields, 0, event.id);
  scratch(fields, 1, event.name);
  scratch(fields, 2, event.email);
  scratch(fields, 3, event.creditCard);
  bytes(fields, 4, event.city, 0, event.city.length);
  bytes(fields, 5, event.state, 0, event.state.length);
  whole(fields, 6, event.atMs * 1000);
  bytes(fields, 7, event.pool, event.extraStart, event.extraEnd);
}

function writeAuction(event: NexmarkGenerator, fields: FieldBuilders): void {
  whole(fields, 0, event.id);
  scratch(fields, 1, event.itemName);
  scratch(fields, 2, event.description);
  whole(fields, 3, event.initialBid);
  whole(fields, 4, event.reserve);
  whole(fields, 5, event.atMs * 1000);
  whole(fields, 6, event.expiresMs * 1000);
  whole(fields, 7, event.seller);
  whole(fields, 8, event.category);
  bytes(fields, 9, event.pool, event.extraStart, event.extraEnd);
}

function writeBid(event: NexmarkGenerator, fields: FieldBuilders): void {
  whole(fields, 0, event.auction);
  whole(fields, 1, event.bidder);
  whole(fields, 2, event.price);
  bytes(fields, 3, event.channel, 0, event.channel.length);
  bytes(fields, 4, event.url, 0, event.url.length);
  whole(fields, 5, event.atMs * 1000);
  bytes(fields, 6, event.pool, event.extraStart, event.extraEnd);
}

function whole(fields: FieldBuilders, index: number, value: number): void {
  const builder = fields[index] as ColumnBuilder | null;
  if (builder === null) return;
  assert(builder instanceof Int64Builder, 'a field of whole numbers');
  builder.appendNumber(value);
}

function bytes(
  fields: FieldBuilders,
  index: number,
  source: Uint8Array,
  start: number,
  end: number,
): void {
  const builder = fields[index] as ColumnBuilder | null;
  if (builder === null) return;
  assert(builder instanceof TextBuilder, 'a field of text');
  builder.append(source, start, end);
}

function scratch(fields: FieldBuilders, index: number, source: Scratch): void {
  bytes(fields, index, source.bytes, source.start, source.end);
}
