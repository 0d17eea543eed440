import type { ForkName } from "@lodestar/params";
import { afterAll, beforeAll, expect } from "vitest";
import { ExampleDevChain, type ExampleFork } from "../support/api/example-chain.ts";
import { type ServedApi, serveApi } from "../support/api/served-api.ts";

export const JSON_HEADERS = { "Content-Type": "application/json" };
export const SSZ_TYPE = "application/octet-stream";

/** An example chain behind the servers, for the tests of a file. */
export class ServedChain {
  chain!: ExampleDevChain;
  served!: ServedApi;

  constructor(fork: ForkName & ExampleFork) {
    beforeAll(async () => {
      this.chain = await ExampleDevChain.open(fork);
      this.served = await serveApi(this.chain.api);
    });
    afterAll(async () => {
      await this.served?.close();
      await this.chain?.close();
    });
  }

  readonly ask: ServedApi["ask"] = (...request) => this.served.ask(...request);

  readonly data = async (path: string) => JSON.parse((await this.ask(path)).text).data;

  readonly post = (path: string, body: unknown, headers: Record<string, string> = JSON_HEADERS) =>
    this.ask(path, { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) });

  readonly askBytes = async (path: string) => {
    const response = await fetch(this.served.restUrl + path, { headers: { Accept: SSZ_TYPE } });
    const { status, headers } = response;
    return { status, headers, body: new Uint8Array(await response.arrayBuffer()) };
  };

  readonly resultOf = async (method: string, params: unknown[] = []) =>
    JSON.parse((await this.served.call(method, params)).text).result;

  expectNoComplaints(): void {
    expect(this.chain.complaints).toEqual([]);
    expect(this.served.log.filter(({ level }) => level === "error")).toEqual([]);
  }
}
