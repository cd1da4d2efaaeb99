/**
 * What the preview sinks of a pipeline have shown: the same objects as long as the page is open. The stream may speak of a sink
 * before the part that shows it is there (its code may still be on the way): such events are kept and handed over.
 */
import type { OutputEvent } from '../../../api/stream/event-shapes.ts';
import { Output } from './output.ts';

export type PreviewSink = { operator_id: string; table: string; updating: boolean };

/** Of events that nobody has asked for; the newest of them. */
const EARLY_MOST = 1_000;

export class Outputs {
  readonly #byOperator = new Map<string, Output>();
  #early: { event: OutputEvent; atMicros: number }[] = [];

  of({ operator_id: operator, table, updating }: PreviewSink): Output {
    const known = this.#byOperator.get(operator);
    if (known !== undefined) return known;
    const made = new Output(operator, table, updating);
    this.#byOperator.set(operator, made);
    for (const { event, atMicros } of this.#early)
      if (event.operator_id === operator) made.take(event, atMicros);
    this.#early = this.#early.filter(({ event }) => event.operator_id !== operator);
    return made;
  }

  take(event: OutputEvent, atMicros: number): void {
    const output = this.#byOperator.get(event.operator_id);
    if (output !== undefined) output.take(event, atMicros);
    else this.#early = [...this.#early.slice(1 - EARLY_MOST), { event, atMicros }];
  }
}
