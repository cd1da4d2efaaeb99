/** The targets of the sinks there are, as worlds for the conformance suite. */
import type { ItemPayload } from '../../src/connectors/connector.ts';
import { AppendedObjectSink } from '../../src/platform/sinks/appended-object.ts';
import { MultipartUploadSink } from '../../src/platform/sinks/multipart-upload.ts';
import type { TwoPhaseWorld } from './two-phase-sink-conformance.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);

async function textAt(bucket: R2Bucket, key: string): Promise<string | null> {
  return (await (await bucket.get(key))?.text()) ?? null;
}

/** Files under a prefix, each a completed upload; `root` is used by nobody else. */
export function multipartWorld(bucket: R2Bucket, root: string): TwoPhaseWorld {
  const uploadOf = ({ key, uploadId }: ItemPayload): R2MultipartUpload =>
    bucket.resumeMultipartUpload(key, uploadId as string);
  return {
    bucket,
    make: (through, calls) => new MultipartUploadSink(through, calls),
    request: (name, text, sink) => ({
      key: `${root}/${sink}/part-${name}`,
      bytes: bytesOf(text),
      rows: 1,
      method: 'multipart',
    }),
    visible: async (sink) => {
      const { objects } = await bucket.list({ prefix: `${root}/${sink}/` });
      const texts = await Promise.all(objects.map(({ key }) => textAt(bucket, key)));
      return texts.flatMap((text) => linesOf(text ?? ''));
    },
    lose: async (item) => await uploadOf(item).abort(),
    haunt: async (item) => {
      // Another part of the same upload, while it is open, and an upload of its own under the same name.
      await uploadOf(item)
        .uploadPart(2, bytesOf('ghost\n'))
        .catch(() => undefined);
      const own = await bucket.createMultipartUpload(item.key);
      await own.uploadPart(1, bytesOf('ghost\n'));
    },
    change: async (item, keeps) => {
      const text = keeps ? await textAt(bucket, item.key) : '';
      await bucket.put(item.key, `${text}changed\n`);
    },
    otherLineage: 'applied',
  };
}

/** One object that grows; `root` is used by nobody else. */
export function appendedWorld(bucket: R2Bucket, root: string): TwoPhaseWorld {
  return {
    bucket,
    make: (through, calls) => new AppendedObjectSink(through, calls),
    request: (name, text, sink) => ({
      key: `${root}/staged/${sink}/part-${name}`,
      bytes: bytesOf(text),
      rows: 1,
      method: 'object',
      target: `${root}/${sink}.ndjson`,
    }),
    visible: async (sink) => linesOf((await textAt(bucket, `${root}/${sink}.ndjson`)) ?? ''),
    lose: async (item) => await bucket.delete(item.key),
    haunt: async (item) => {
      await bucket.put(`${item.key}-ghost`, bytesOf('ghost\n'));
    },
    change: async (item, keeps) => {
      const present = await bucket.get(item.target);
      const text = (await present?.text()) ?? '';
      if (keeps)
        await bucket.put(item.target, `${text}changed\n`, {
          customMetadata: present?.customMetadata ?? {},
        });
      else await bucket.put(item.target, 'changed\n');
    },
    otherLineage: 'refused',
  };
}
