import { describe, expect, it } from "vitest";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../../test/support/api/fake-chain.ts";
import { createApi } from "./api.ts";
import { createMethodTable } from "./bound-methods.ts";
import { methods } from "./method-groups.ts";

const chain = createFakeChain();
const api = createApi({
  chain: asBeaconChain(chain),
  network: fakeNetwork(chain),
  setLogSpec: () => {},
  futures: { pending: () => [] },
});
const table = createMethodTable(api);

const NUMBERS = Array.from({ length: 62 }, (_, i) => i + 1);

async function call(name: string, params: unknown[] | Record<string, unknown>) {
  const answer = await table.find(name)!.call(params);
  if (!Buffer.isBuffer(answer.body)) throw new Error("The answer is a stream.");
  return JSON.parse(String(answer.body));
}

it("caches responses about the head, but not those by slot, which change with time", () => {
  const policy = (name: string, params: unknown[] | Record<string, unknown>) => table.find(name)!.cachePolicy?.(params);
  const name = "get_v1_beacon_states_stateId_validators_validatorId";
  const root = `0x${"00".repeat(32)}`;
  expect(policy(name, ["head", "7"])).toEqual({ on: "head", isPrewarmed: true });
  expect(policy(name, { state_id: "head", validator_id: 7 })).toEqual({ on: "head", isPrewarmed: true });
  // The state may have to be replayed.
  expect(policy(name, { state_id: root, validator_id: 7 })).toEqual({ on: "head", isPrewarmed: false });
  expect(policy("get_v1_beacon_headers_blockId", [root])).toEqual({ on: "head", isPrewarmed: true });
  for (const slot of [7, "7"]) {
    expect(policy(name, [slot, "7"])).toBeUndefined();
    expect(policy(name, { state_id: slot, validator_id: "7" })).toBeUndefined();
  }
  expect(policy("get_v1_config_spec", [])?.on).toBe("nothing");
  expect(policy("get_v1_node_syncing", [])).toEqual({ on: "status", isPrewarmed: true });
  expect(policy("get_v1_node_peers", [])).toBeUndefined();
  const address = `0x${"00".repeat(20)}`;
  expect(policy("eth_getBalance", [address])).toEqual({ on: "evm", isPrewarmed: false });
  // The pending block changes with the transaction pool and with time.
  for (const params of [[address, "pending"], { address, block: "pending" }])
    expect(policy("eth_getBalance", params)).toBeUndefined();
  expect(policy("eth_estimateGas", [{}])).toBeUndefined();
});

describe("definitions", () => {
  it("contain every method of the interface once", () => {
    const numbers = methods.flatMap(({ number }) => number ?? []);
    expect(numbers.sort((a, b) => a - b)).toEqual(NUMBERS);
  });

  it("have unique names, REST paths and operations", () => {
    const names = methods.flatMap(({ name, aliases }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    const paths = methods.flatMap(({ rest }) => rest.map(({ verb, path }) => `${verb} ${path}`));
    expect(new Set(paths).size).toBe(paths.length);
    const operations = methods.flatMap(({ operation }) => operation ?? []);
    expect(new Set(operations).size).toBe(operations.length);
  });

  it("describe methods and parameters in sentences", () => {
    const texts = methods.flatMap(({ summary, params }) => [summary, ...params.map(({ description }) => description)]);
    expect(texts.filter((text) => !/^[A-Z].*\.$/.test(text))).toEqual([]);
  });

  it("begin with the parameters of their paths, then the required ones", () => {
    const misplaced = methods.filter(({ rest, params }) => {
      const names = params.map(({ name }) => name);
      const required = params.filter(({ required }) => required);
      const ofPaths = rest.map(({ path }) => Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name));
      const isFirst = (inPath: readonly unknown[]) => inPath.every((name, position) => names[position] === name);
      return !ofPaths.every(isFirst) || required.some((param, position) => params[position] !== param);
    });
    expect(misplaced.map(({ name }) => name)).toEqual([]);
  });

  it("keep the methods of validators out of the heavy lane", () => {
    const ofValidators = methods.filter(({ rest }) => rest.some(({ path }) => /^\/eth\/v.*\/validator\//.test(path)));
    expect(ofValidators.length).toBeGreaterThan(20);
    expect(ofValidators.filter(({ cost }) => cost === "heavy").map(({ name }) => name)).toEqual([]);
  });
});

describe("method table", () => {
  it("finds a method by name and alias", () => {
    for (const { name, aliases, access } of methods) {
      const method = table.find(name);
      expect(method?.name).toBe(name);
      expect(method?.access).toBe(access);
      for (const alias of aliases) expect(table.find(alias)).toBe(method);
    }
  });

  it.each(["", "GETBEACONHEAD", "constructor", "eth_unknown", "rpc.unknown"])("has no method %j", (name) => {
    expect(table.find(name)).toBeUndefined();
  });

  it("suggests the nearest name", () => {
    expect(table.suggest("get_v1_beacon_state_root")).toBe("get_v1_beacon_states_root");
    expect(table.suggest("engine_newPayloadV1")).toBeUndefined();
  });

  it("rejects duplicate names", () => {
    const [method] = methods;
    expect(() => createMethodTable(api, { methods: [method!, method!] })).toThrow(
      `Duplicate method name: ${method!.name}`,
    );
  });

  it("calls operations with bound arguments", async () => {
    expect(await call("get_v1_beacon_headers_blockId", ["head"])).toHaveProperty("root", chain.head.root);
    expect(await call("get_v1_beacon_headers", { parent_root: chain.genesisRoot })).toHaveLength(2);
    expect(await call("get_v1_beacon_states_root", [0])).toEqual(await call("get_v1_beacon_states_root", ["0"]));
    expect(await call("getBeaconBlock", [null, chain.head.root])).toEqual(await call("getBeaconBlock", ["head"]));
    expect(await call("getBeaconBlock", ["4"])).toEqual(await call("getBeaconBlock", [chain.head.root]));
    expect(await call("getBeaconBlock", ["5"])).toBeNull();
    expect(await call("get_v1_node_health", [])).toEqual({ health: 200 });
    expect(await call("setGraffiti", ["hi"])).toBe(true);
    expect(Buffer.from(chain.graffiti.get()).toString("utf8", 0, 2)).toBe("hi");
  });

  it("reports invalid parameters as a rejection", async () => {
    const promise = table.find("getBeaconHead")!.call([1]);
    await expect(promise).rejects.toMatchObject({ kind: "invalid-params" });
  });
});
