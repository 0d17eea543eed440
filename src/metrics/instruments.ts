import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** The value of a metric for one set of labels. */
type Sample<Label extends string> = readonly [labels: Readonly<Record<Label, string>>, value: number];

type ReadSamples<Label extends string> = () => Iterable<Sample<Label>> | Promise<Iterable<Sample<Label>>>;

/** Makes the metrics of a registry. Most are read from the node when somebody looks at them. */
export class Instruments {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      async collect() {
        this.set(await read());
      },
    });
  }

  gauges<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: ReadSamples<Label>,
  ): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      async collect() {
        const samples = await read();
        this.reset();
        for (const [labels, value] of samples) this.set(labels, value);
      },
    });
  }

  /** A counter of what the node itself counts. */
  total(name: string, help: string, read: () => number): void {
    this.totals(name, help, [], () => [[{}, read()]]);
  }

  totals<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => Iterable<Sample<Label>>,
  ): void {
    new Counter({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc(labels, value);
      },
    });
  }

  /** The rest is told what happens. */
  counter<Label extends string>(name: string, help: string, labelNames: readonly Label[] = []): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  levels<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }

  histogram<Label extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    return new Histogram({ name, help, buckets: [...buckets], labelNames, registers: [this.#registry] });
  }
}
