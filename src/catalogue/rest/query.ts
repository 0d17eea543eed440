import { invalidParams } from "../../failure.ts";

/** The values of each parameter of a query string: several may be separated by commas, or repeat the name. */
export class Query {
  readonly #values = new Map<string, string[]>();

  constructor(text: string) {
    for (const [name, value] of new URLSearchParams(text)) {
      const values = this.#values.get(name) ?? [];
      values.push(value);
      this.#values.set(name, values);
    }
  }

  /** Undefined when it is not there. */
  one(name: string): string | undefined {
    const values = this.#values.get(name);
    if (values === undefined) return undefined;
    if (values.length > 1) throw invalidParams(`The parameter "${name}" can be given once only.`);
    return values[0];
  }

  /** Undefined when there is none; `?id=` holds no value. */
  list(name: string): string[] | undefined {
    const values = this.#values.get(name)?.flatMap((value) => value.split(","));
    const given = values?.filter((value) => value !== "");
    return given?.length ? given : undefined;
  }
}
