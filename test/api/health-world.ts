/** A simulated cluster with logs of `http` tables, and what the API says of its health. */
import { planSql } from '../../src/graph/plan-sql.ts';
import { DECLARATIONS } from '../../src/connectors/declarations.ts';
import type { PhysicalGraph } from '../../src/graph/graph.ts';
import { healthOf } from '../../src/api/observe/health.ts';
import type { RefusedRows } from '../../src/api/observe/health-facts.ts';
import type { Health } from '../../src/api/observe/health-shapes.ts';
import { statusOf } from '../../src/api/observe/status.ts';
import type { PipelineStatus } from '../../src/api/observe/status-shapes.ts';
import { SimulatedCluster } from '../harness/cluster.ts';
import { SimulatedLogs } from '../harness/cluster/logs.ts';

export type HealthOptions = {
  parallelism?: number;
  files?: Record<string, string>;
  checkpointIntervalMs?: number;
};

export class HealthWorld {
  readonly graph: PhysicalGraph;
  readonly cluster: SimulatedCluster;
  readonly #logs = new SimulatedLogs();
  #posts = 0;
  /** What logs have refused, by source. */
  refused: ReadonlyMap<string, RefusedRows> = new Map();

  constructor(sql: string, options: HealthOptions = {}) {
    const planned = planSql(sql, DECLARATIONS, { defaultSink: 'preview' });
    if (planned.graph === null) throw new Error(JSON.stringify(planned.errors));
    this.graph = planned.graph;
    this.cluster = new SimulatedCluster({
      seed: 'health',
      graph: planned.graph,
      parallelism: options.parallelism ?? 1,
      files: options.files ?? {},
      logs: this.#logs,
      checkpointIntervalMs: options.checkpointIntervalMs ?? 10_000,
    });
  }

  /** Runs until sources read. */
  start(ms = 3_000): this {
    this.cluster.startGeneration('created');
    this.cluster.runFor(ms);
    return this;
  }

  post(table: string, rows: readonly object[], partition = 0): void {
    const texts = rows.map((row) => JSON.stringify(row));
    this.#logs.append(table, partition, texts, `post${this.#posts++}`, this.cluster.nowMs);
  }

  get status(): PipelineStatus {
    const { catalog, leaderStatus, nowMs } = this.cluster;
    return statusOf({ pipeline: catalog.pipeline, job: catalog.job }, leaderStatus, nowMs);
  }

  get health(): Health {
    return this.healthOf(this.status);
  }

  /** The health that a status would have. */
  healthOf(status: PipelineStatus): Health {
    return healthOf(status, this.graph, this.cluster.leaderStatus?.errors ?? [], this.refused);
  }

  /** The code of the health and those of the others. */
  get codes(): string[] {
    const { code, others } = this.health;
    return [code, ...others.map((other) => other.code)];
  }
}
