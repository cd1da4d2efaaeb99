/** Prometheus' text format, version 0.0.4: families with their help and type, each sample of a family side by side. */

export type MetricType = 'counter' | 'gauge';

export type Labels = Readonly<Record<string, string | number>>;

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type Family = { help: string; type: MetricType; samples: string[] };

export class PrometheusText {
  readonly #families = new Map<string, Family>();
  #samples = 0;

  /** Declares a family; those without samples are left out of the text. */
  family(name: string, type: MetricType, help: string): void {
    this.#families.set(name, { help, type, samples: [] });
  }

  get samples(): number {
    return this.#samples;
  }

  /** A sample of a declared family; null: nothing is known. */
  add(name: string, labels: Labels, value: number | null): void {
    const family = this.#families.get(name);
    if (family === undefined) throw new Error(`the family ${name} is not declared`);
    if (value === null) return;
    const pairs = Object.entries(labels).map(
      ([label, text]) => `${label}="${escapedLabel(String(text))}"`,
    );
    const where = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
    family.samples.push(`${name}${where} ${numberText(value)}`);
    this.#samples++;
  }

  toString(): string {
    const lines: string[] = [];
    for (const [name, { help, type, samples }] of this.#families) {
      if (samples.length === 0) continue;
      lines.push(`# HELP ${name} ${escapedHelp(help)}`, `# TYPE ${name} ${type}`, ...samples);
    }
    return `${lines.join('\n')}\n`;
  }
}

const escapedHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

const escapedLabel = (text: string): string => escapedHelp(text).replaceAll('"', '\\"');

const numberText = (value: number): string => {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  return String(value);
};
