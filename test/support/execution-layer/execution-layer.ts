import type { GethGenesis } from "@ethereumjs/common";
import { CallLog, type Outcome } from "./call-log.ts";
import { engineMethods } from "./engine-methods.ts";
import { ethMethods } from "./eth-methods.ts";
import { ExecutionChain } from "./execution-chain.ts";
import { Faults } from "./faults.ts";
import { JsonRpcError } from "./json-rpc-error.ts";
import type { Methods } from "./methods.ts";
import type { Hex } from "./wire.ts";

/** An execution layer for tests: a real EVM with the Engine API, without peers, with fault injection. */
export class ExecutionLayer {
  readonly chain: ExecutionChain;
  readonly calls = new CallLog();
  readonly faults = new Faults();
  readonly #methods: Methods;

  static async open(genesis: GethGenesis): Promise<ExecutionLayer> {
    return new ExecutionLayer(await ExecutionChain.open(genesis));
  }

  private constructor(chain: ExecutionChain) {
    this.chain = chain;
    this.#methods = { ...engineMethods(chain), ...ethMethods(chain) };
  }

  get genesisHash(): Hex {
    return this.chain.evm.genesis.hash;
  }

  /** Returns the result of an in-process call as over HTTP. Rejects if there is none. */
  async call<Result = unknown>(method: string, ...params: unknown[]): Promise<Result> {
    const outcome = await this.answer(method, structuredClone(params));
    switch (outcome.kind) {
      case "result":
        return JSON.parse(JSON.stringify(outcome.result));
      case "error":
        throw Object.assign(new Error(outcome.message), { code: outcome.code });
      case "http":
        throw new Error(`${method} was answered with HTTP ${outcome.status}.`);
      case "reset":
        throw new Error(`The connection was reset at ${method}.`);
    }
  }

  /** Returns the outcome of a call, including faults. */
  async answer(method: string, params: readonly unknown[]): Promise<Outcome> {
    const call = this.calls.begin(method, params);
    const proceed = () => this.#answerRightly(method, params);
    const fault = this.faults.take(call);
    const outcome = fault ? await fault({ call, chain: this.chain, proceed }) : await proceed();
    this.calls.end(call, outcome);
    return outcome;
  }

  async #answerRightly(method: string, params: readonly unknown[]): Promise<Outcome> {
    try {
      const answer = this.#methods[method];
      if (!answer) throw new JsonRpcError(-32601, method);
      return { kind: "result", result: await answer(params) };
    } catch (error) {
      if (error instanceof JsonRpcError) return { kind: "error", code: error.code, message: error.message };
      return { kind: "error", code: -32603, message: String(error) };
    }
  }
}
