/** A value that is loaded when it is first needed, and used synchronously afterwards. */
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

  /** Throws before the value is loaded. */
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
