/** The two-phase sinks over a bucket in memory. The same suite runs over R2 in workerd (test/workerd). */
import { MemoryBucket } from '../harness/memory-bucket.ts';
import { describeTwoPhaseSink } from '../harness/two-phase-sink-conformance.ts';
import { appendedWorld, multipartWorld } from '../harness/two-phase-worlds.ts';

describeTwoPhaseSink('files by multipart upload', () =>
  multipartWorld(new MemoryBucket().binding, 'files'),
);
describeTwoPhaseSink('one object that is appended to', () =>
  appendedWorld(new MemoryBucket().binding, 'grows'),
);
