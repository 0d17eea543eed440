import { Revision } from "../../../../src/chain/revision.ts";
import { Failure, unavailable } from "../../../../src/errors/failure.ts";
import { SharedStream } from "../../../../src/json/shared-stream.ts";
import { ANY_STATUS } from "../../../../src/json/validator-status.ts";
import { BALANCE_BYTES } from "../../../../src/json/writers/registry-chunks.ts";
import { entityTag, matchesTag } from "../../../../src/server/http/response/entity-tag.ts";
import type {
  CacheDependency,
  CachePolicy,
  CallableMethod,
  Caller,
  Cancellation,
  MethodResponse,
  Params,
} from "../../../../src/server/method-table.ts";
import { bodyFormatOf, queryOf } from "../../../../src/server/rest/request.ts";
import type { RestRequest, RestResponse, RestRoute } from "../../../../src/server/rest/route-table.ts";
import type { ServedApi } from "../../../../src/server/thread/main/servers-thread.ts";
import { VALIDATOR_BYTES } from "../../../../src/ssz/validator-layout.ts";
import { Channel } from "../events/channel.ts";
import { createSignal, streamOf } from "../http/http.ts";

export const LARGE_BYTES = 9 * 1024 * 1024;

type Handler = (params: Params, caller?: Caller, cancellation?: Cancellation) => Promise<MethodResponse>;

const json = (value: unknown): MethodResponse => ({ body: Buffer.from(JSON.stringify(value)) });

async function* broken(...chunks: string[]): AsyncGenerator<Buffer> {
  yield* streamOf(...chunks);
  throw unavailable("The stream broke.");
}

const prewarmed = (on: CacheDependency): CachePolicy => ({ on, isPrewarmed: true });

const POLICIES: Readonly<Record<string, CachePolicy>> = {
  head: prewarmed("head"),
  status: prewarmed("status"),
  described: prewarmed("nothing"),
  list: prewarmed("head"),
  element: prewarmed("head"),
};

/** Methods and routes with every kind of response. Tests change the values and count the calls. */
export class TestApi {
  readonly channel = new Channel();
  readonly revision = new Revision();
  readonly cancelled = createSignal();
  readonly sharedReleased = createSignal();
  readonly endlessClosed = createSignal();
  chunksPulled = 0;
  /** Results of the cacheable methods and routes. */
  readonly values = { head: "a", status: "well", balance: 7 };
  cacheableCalls = 0;
  elementCalls = 0;
  readonly served: ServedApi;

  constructor() {
    const methods = new Map(Object.entries(this.#handlers()).map(([name, call]) => [name, callable(name, call)]));
    this.served = {
      methods: { entries: () => methods.entries(), find: (name) => methods.get(name) },
      routes: this.#routes(),
      feed: () => this.channel.feed,
      revision: this.revision,
    };
  }

  #handlers(): Record<string, Handler> {
    return {
      echo: async (params) => json(params),
      described: async () => ({
        ...json("block"),
        meta: { finalized: true },
        headers: { "Eth-Consensus-Version": "fulu" },
      }),
      fail: async () => {
        throw new Failure("rejected", "It failed.", { detail: "All of it.", failures: [{ index: 1, message: "No." }] });
      },
      crash: async () => {
        throw new Error("a secret of the node");
      },
      large: async () => json("é".repeat(LARGE_BYTES / 2)),
      stream: async () => ({ body: streamOf("[1,", "", "2]") }),
      shared: async () => ({ body: this.#sharedBalances() }),
      broken: async () => ({ body: broken() }),
      brokenLate: async () => ({ body: broken("[1,") }),
      endless: async () => ({ body: this.#endless() }),
      waits: (_params, _caller, cancellation) =>
        new Promise((_resolve, reject) => {
          cancellation?.signal.addEventListener("abort", () => {
            this.cancelled.trigger();
            reject(cancellation.signal.reason);
          });
        }),
      subscribe: async (_params, caller) => {
        const id = await caller!.subscribe(this.channel.feed);
        this.channel.publish({ number: "before the response" });
        return json(id);
      },
      unsubscribe: async (params, caller) => json(await caller!.unsubscribe((params as [string])[0])),
      head: async () => json(this.#count(this.values.head)),
      status: async () => json(this.#count(this.values.status)),
      list: async () => ({ body: this.#list(), meta: { finalized: false } }),
      element: async () => json(this.#countElement()),
    };
  }

  #routes(): RestRoute[] {
    return [
      route("GET", "/about/{name}", async (request) => {
        const { params, headers } = request;
        const tag = entityTag("source");
        if (matchesTag(headers["if-none-match"], tag)) return { status: 304, cacheLifetime: "while-unchanged", tag };
        const response = restResponse({ params, query: queryOf(request), custom: headers["eth-custom"] });
        return { ...response, cacheLifetime: "while-unchanged", tag };
      }),
      route("POST", "/body", async (request, created) =>
        restResponse([bodyFormatOf(created, request), request.body?.toString()]),
      ),
      route("GET", "/stream", async () => streamResponse(streamOf("[1,", "2]"))),
      {
        ...route("GET", "/status/{name}", async () => {
          const response = restResponse(this.#count(this.values.status));
          return { ...response, tag: '"status"', cacheLifetime: "while-unchanged" };
        }),
        isCacheable: true,
        cachePolicy: ({ params }) => (params.name === "cached" ? prewarmed("status") : undefined),
      },
      {
        ...route("GET", "/lists/{list}", async () => streamResponse(this.#list())),
        method: "list",
        isCacheable: true,
        cachePolicy: () => prewarmed("head"),
      },
      {
        ...route("GET", "/lists/{list}/{index}", async () => restResponse(this.#countElement())),
        elementOf: "list",
        isCacheable: true,
        cachePolicy: () => prewarmed("head"),
      },
      { ...route("GET", "/events", async () => ({ status: 200, feed: this.channel.feed })), responseFormats: [] },
    ];
  }

  #count<T>(value: T): T {
    this.cacheableCalls++;
    return value;
  }

  #countElement(): string {
    this.elementCalls++;
    return "from the main thread";
  }

  #sharedBalances(): SharedStream {
    const chunk = new SharedArrayBuffer(3 * BALANCE_BYTES);
    new BigUint64Array(chunk).set([0n, 1n, 2n]);
    const stream = SharedStream.of({ writer: "balances", input: { balanceChunks: [chunk] } });
    stream.onEnd(this.sharedReleased.trigger);
    return stream;
  }

  /** Three validators. The balance of the last one is set by the test. */
  #list(): SharedStream {
    const validatorChunks = [new SharedArrayBuffer(3 * VALIDATOR_BYTES)];
    const balanceChunks = [new SharedArrayBuffer(3 * BALANCE_BYTES)];
    new BigUint64Array(balanceChunks[0]!).set([0n, 1n, BigInt(this.values.balance)]);
    const input = { validatorChunks, balanceChunks, epoch: 0, statuses: ANY_STATUS };
    return SharedStream.of({ writer: "validators", input });
  }

  async *#endless(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        this.chunksPulled++;
        yield Buffer.alloc(64 * 1024, "x");
      }
    } finally {
      this.endlessClosed.trigger();
    }
  }
}

function callable(name: string, call: Handler): CallableMethod {
  return {
    name,
    cost: "cheap",
    access: "read",
    takesLargeBody: name === "echo",
    isCacheable: name in POLICIES,
    elementOf: name === "element" ? "list" : undefined,
    cachePolicy: (params) => (Object.keys(params).length < 2 || name === "element" ? POLICIES[name] : undefined),
    call,
  };
}

function route(
  verb: "GET" | "POST",
  path: string,
  handle: (request: RestRequest, route: RestRoute) => Promise<RestResponse>,
): RestRoute {
  const accepts: RestRoute["accepts"] = verb === "POST" ? ["json"] : [];
  const created: RestRoute = {
    method: path,
    verb,
    path,
    access: "read",
    responseFormats: ["json"],
    accepts,
    handle: (request) => handle(request, created),
  };
  return created;
}

function restResponse(value: unknown) {
  return streamResponse(json(value).body);
}

function streamResponse(data: MethodResponse["body"]) {
  const parts = [Buffer.from('{"data":'), data, Buffer.from("}")];
  return { status: 200, content: { format: "json" as const, parts } };
}
