/** A value loaded asynchronously on first use and read synchronously from then on. */
export class Lazy<T> {
  readonly #load: () => Promise<T>;
  #loading: Promise<void> | undefined;
  #value: T | undefined;

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  get isLoaded(): boolean {
    return this.#value !== undefined;
  }

  /** Throws if the value has not been loaded yet. */
  get value(): T {
    if (this.#value === undefined) throw new Error("The value is not loaded yet.");
    return this.#value;
  }

  load(): Promise<void> {
    this.#loading ??= this.#load().then((value) => {
      this.#value = value;
    });
    return this.#loading;
  }
}
