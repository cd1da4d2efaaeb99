/** From a connector's name to its source or sink. */
import { EngineError } from '../base/errors.ts';
import { BlackholeSink } from './blackhole/sink.ts';
import type { Sink, SinkContext, Source, SourceContext } from './connector.ts';
import { ExampleSource } from './example/source.ts';
import { HttpSource } from './http/source.ts';
import { ImpulseSource } from './impulse/source.ts';
import { NexmarkSource } from './nexmark/source.ts';
import { PreviewSink } from './preview/sink.ts';
import { makeR2Sink } from './r2/sink.ts';
import { ObjectSource } from './single-file/object-source.ts';
import { makeSingleFileSink } from './single-file/sink.ts';
import { makeStdoutSink } from './stdout/sink.ts';
import { ValuesSource } from './values/source.ts';

const SOURCES: Readonly<Record<string, (context: SourceContext) => Source>> = {
  example: (context) => new ExampleSource(context),
  http: (context) => new HttpSource(context),
  impulse: (context) => new ImpulseSource(context),
  nexmark: (context) => new NexmarkSource(context),
  single_file: (context) => new ObjectSource(context),
  r2: (context) => new ObjectSource(context),
  values: (context) => new ValuesSource(context),
};

const SINKS: Readonly<Record<string, (context: SinkContext) => Sink>> = {
  preview: (context) => new PreviewSink(context),
  stdout: makeStdoutSink,
  blackhole: () => new BlackholeSink(),
  single_file: makeSingleFileSink,
  r2: makeR2Sink,
};

/** @throws UNKNOWN_CONNECTOR when no such source exists: a graph of a newer version */
export function makeSource(context: SourceContext): Source {
  const { connector } = context.spec.connector;
  const make = SOURCES[connector];
  if (make === undefined)
    throw new EngineError('UNKNOWN_CONNECTOR', `there is no source connector "${connector}"`);
  return make(context);
}

/** @throws UNKNOWN_CONNECTOR when no such sink exists: a graph of a newer version */
export function makeSink(connector: string, context: SinkContext): Sink {
  const make = SINKS[connector];
  if (make === undefined)
    throw new EngineError('UNKNOWN_CONNECTOR', `there is no sink connector "${connector}"`);
  return make(context);
}
