/** The built-in examples, asked for once. */
import type { Example, ExampleCollection } from '../../api/examples/example-shapes.ts';
import { api } from './client.ts';

let asked: Promise<readonly Example[]> | null = null;

export function loadExamples(): Promise<readonly Example[]> {
  asked ??= api.get<ExampleCollection>('/examples').then(
    ({ data }) => data,
    (thrown: unknown) => {
      asked = null;
      throw thrown;
    },
  );
  return asked;
}
