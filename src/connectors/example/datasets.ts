/** The datasets of the connector `example`, by name. */
import type { Schema } from '../../batch/types.ts';
import { CARDS_DATASET } from './cards.ts';
import { CUSTOMERS } from './customers.ts';
import type { Dataset } from './fields.ts';
import { FLIGHTS } from './flights.ts';
import { PLAYS } from './plays.ts';
import { SENSORS_DATASET } from './sensors.ts';
import { CLICKS, ORDERS, PAYMENTS } from './shop.ts';

export const DATASETS = {
  clicks: CLICKS,
  cards: CARDS_DATASET,
  orders: ORDERS,
  payments: PAYMENTS,
  plays: PLAYS,
  sensors: SENSORS_DATASET,
  customers: CUSTOMERS,
  flights: FLIGHTS,
} as const satisfies Record<string, Dataset>;

export type DatasetName = keyof typeof DATASETS;

export const DATASET_NAMES = Object.keys(DATASETS) as DatasetName[];

export const DATASET_SCHEMAS: Readonly<Record<DatasetName, Schema>> = Object.fromEntries(
  DATASET_NAMES.map((name) => [name, DATASETS[name].schema]),
) as Record<DatasetName, Schema>;

/** Those whose rows are changes of a table: they are read with format = 'debezium_json'. */
export const CHANGE_DATASETS: readonly DatasetName[] = DATASET_NAMES.filter(
  (name) => (DATASETS[name] as Dataset).changesOf !== undefined,
);
