import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Buckets for delays after the start of a slot, in seconds. */
export const DELAY_BUCKETS = [0.1, 0.25, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8, 12];

/** The value of a metric for one set of labels. */
type Sample<Label extends string> = readonly [labels: Readonly<Record<Label, string>>, value: number];

type ReadSamples<Label extends string> = () => Iterable<Sample<Label>> | Promise<Iterable<Sample<Label>>>;

/** Registers metrics. Gauges and totals are observable: they are read when the metrics are scraped. */
export class Instruments {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Registers an observable gauge. */
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

  /** Registers an observable gauge with labels. */
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

  /** Registers an observable counter. */
  total(name: string, help: string, read: () => number): void {
    this.totals(name, help, [], () => [[{}, read()]]);
  }

  /** Registers an observable counter with labels. */
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

  /** Registers a counter that the caller increments. */
  counter<Label extends string>(name: string, help: string, labelNames: readonly Label[] = []): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  /** Registers a gauge that the caller increments and decrements. */
  upDownCounter<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }

  /** Registers a histogram to which the caller adds values. */
  histogram<Label extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    return new Histogram({ name, help, buckets: [...buckets], labelNames, registers: [this.#registry] });
  }
}
