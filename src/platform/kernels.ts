/** The kernels as the Worker has them: modules that workerd compiled when it loaded the bundle. */
import columns from '../kernels/columns.wasm';
import json from '../kernels/json.wasm';
import jsonWriter from '../kernels/json-writer.wasm';
import parquet from '../kernels/parquet.wasm';
import { useKernels } from '../kernels/kernels.ts';

/** One object, so that taking it into use again keeps the instances. */
const MODULES = { columns, json, 'json-writer': jsonWriter, parquet };

export const installKernels = (): void => useKernels(MODULES);
