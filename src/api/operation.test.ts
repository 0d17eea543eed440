import { routes } from "@lodestar/api";
import { createChainForkConfig } from "@lodestar/config";
import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { byStatus, encodeResponse, extension, standard, standardFamily } from "./operation.ts";

const config = createChainForkConfig({});
const beacon = routes.beacon.getDefinitions(config);
const node = routes.node.getDefinitions(config);
const debug = routes.debug.getDefinitions(config);

const meta = { executionOptimistic: true, finalized: false };
const root = new Uint8Array(32).fill(1);

describe("standard operations", () => {
  it("encode data by the definition, and metadata as REST has it in bodies and headers", async () => {
    const operation = standard(beacon.getBlockRoot, async (_args: { blockId: string }) => ({ data: { root }, meta }));
    const answer = await operation({ blockId: "head" });
    expect(String(answer.body)).toBe(`{"root":"0x${"01".repeat(32)}"}`);
    expect(answer.meta).toEqual({ execution_optimistic: true, finalized: false });
    expect(answer.headers).toEqual({ "Eth-Execution-Optimistic": "true", "Eth-Consensus-Finalized": "false" });
  });

  it("pass the arguments on and take SSZ bytes for data", async () => {
    const block = ssz.phase0.SignedBeaconBlock.defaultValue();
    block.message.slot = 5;
    const operation = standard(beacon.getBlockV2, async ({ blockId }: { blockId: number }) => {
      expect(blockId).toBe(5);
      return { data: ssz.phase0.SignedBeaconBlock.serialize(block), meta: { ...meta, version: ForkName.phase0 } };
    });
    const answer = await operation({ blockId: 5 });
    expect(JSON.parse(String(answer.body))).toEqual(ssz.phase0.SignedBeaconBlock.toJson(block));
    expect(answer.headers?.["Eth-Consensus-Version"]).toBe("phase0");
  });

  it("have nothing beside data where REST has nothing", async () => {
    const operation = standard(node.getNodeVersion, async (_args: undefined) => ({ data: { version: "x" } }));
    expect(await operation(undefined)).toEqual({ body: Buffer.from('{"version":"x"}') });
  });

  it("answer true where REST has no body", async () => {
    const definition = beacon.submitPoolVoluntaryExit;
    expect(encodeResponse(definition, undefined)).toEqual({ body: Buffer.from("true") });
  });

  it("give the whole body where REST has no data member", () => {
    const checkpoint = { epoch: 1, root };
    const response = { justifiedCheckpoint: checkpoint, finalizedCheckpoint: checkpoint, forkChoiceNodes: [] };
    const answer = encodeResponse(debug.getDebugForkChoice, { data: response });
    expect(JSON.parse(String(answer.body))).toHaveProperty("justified_checkpoint.epoch", "1");
  });

  it("keep metadata that a transformed body carries beside data", () => {
    const answer = encodeResponse(node.getPeers, { data: [], meta: { count: 0 } });
    expect(answer).toEqual({ body: Buffer.from("[]"), meta: { count: 0 } });
  });

  it("come from a whole family at once", async () => {
    const operations = standardFamily(beacon, {
      getBlockRoot: async ({ blockId }: { blockId: routes.beacon.BlockId }) => {
        expect(blockId).toBe("head");
        return { data: { root }, meta };
      },
    });
    expect(String((await operations.getBlockRoot({ blockId: "head" })).body)).toContain("root");
  });
});

describe("operations without data of their own", () => {
  it("make a result of a status", async () => {
    const operation = byStatus(
      async (_args: object) => ({ status: 206 }),
      (status) => ({ health: status }),
    );
    expect(String((await operation({})).body)).toBe('{"health":206}');
  });

  it("take no status for 200", async () => {
    const operation = byStatus(
      async (_args: object) => {},
      (status) => status,
    );
    expect(String((await operation({})).body)).toBe("200");
  });

  it("encode the plain values of extensions", async () => {
    expect(await extension(async (value: string) => value)("4")).toEqual({ body: Buffer.from('"4"') });
  });
});
