import type { Api } from "../../../src/api/api.ts";
import { createMethodTable } from "../../../src/api/bound-methods.ts";
import { type ErrorObject, toErrorObject } from "../../../src/server/jsonrpc/errors.ts";
import type { MethodResponse, MethodTable, Params } from "../../../src/server/method-table.ts";

/** Calls methods like the JSON-RPC server, without the server. */
export class Caller {
  readonly #table: MethodTable;

  constructor(api: Api) {
    this.#table = createMethodTable(api);
  }

  // biome-ignore lint/suspicious/noExplicitAny: what a method answers is what the test is about
  async call(name: string, params: Params = [], signal?: AbortSignal): Promise<any> {
    return JSON.parse(await this.text(name, params, signal));
  }

  /** Returns the encoded result. */
  async text(name: string, params: Params = [], signal?: AbortSignal): Promise<string> {
    const { body } = await this.#answer(name, params, signal);
    return String(Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body)));
  }

  /** Returns the metadata of the result. */
  async meta(name: string, params: Params = []): Promise<MethodResponse["meta"]> {
    return (await this.#answer(name, params)).meta;
  }

  /** Returns the error of a call that must fail. */
  async error(name: string, params: Params = []): Promise<ErrorObject> {
    try {
      await this.#answer(name, params);
    } catch (error) {
      return toErrorObject(error);
    }
    throw new Error(`${name} was answered.`);
  }

  async #answer(name: string, params: Params, signal?: AbortSignal): Promise<MethodResponse> {
    const method = this.#table.find(name);
    if (!method) throw new Error(`There is no method ${name}.`);
    return method.call(params, undefined, signal && { signal });
  }
}
