import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClosingStack } from "../../src/async/closing-stack.ts";
import type { ChainSpec } from "../../src/gateway/network/chain-spec.ts";
import type { Format } from "../../src/server/http/response/negotiation.ts";
import { CHAIN_SPEC, methodCall } from "../support/gateway/cache/method-calls.ts";
import { ScriptedUpstream } from "../support/gateway/upstream/scripted-upstream.ts";
import { openReader, readWhole } from "./pool-reader.ts";

const FORKS = ["phase0", "altair", "bellatrix", "capella", "deneb", "electra", "fulu"] as const;
type Fork = (typeof FORKS)[number];

const chainSpec: ChainSpec = {
  ...CHAIN_SPEC,
  forks: FORKS.map((name, epoch) => ({ name, epoch })),
  reportedAtEpoch: 9,
};
const slotOf = (fork: Fork) => FORKS.indexOf(fork) * SLOTS_PER_EPOCH + 1;

const opened = new ClosingStack();
let lying: ScriptedUpstream;
let honest: ScriptedUpstream;

beforeAll(async () => {
  [lying, honest] = (await Promise.all(
    ["lying", "honest"].map(async (name) => {
      const upstream = await new ScriptedUpstream(name).start();
      opened.defer(() => upstream.stop());
      return upstream;
    }),
  )) as [ScriptedUpstream, ScriptedUpstream];
});
afterAll(() => opened[Symbol.asyncDispose]());

interface BlockOptions {
  fork: Fork;
  isBlinded?: boolean;
  proposerIndex: number;
  /** Size of a transaction. */
  bytes?: number;
}

/** A valid block in both formats. Two of them differ only in the proposer. */
function blockOf({ fork, isBlinded = false, proposerIndex, bytes = 0 }: BlockOptions) {
  const type = isBlinded ? ssz[fork as "fulu"].SignedBlindedBeaconBlock : ssz[fork as "fulu"].SignedBeaconBlock;
  const block = type.defaultValue() as ReturnType<typeof ssz.fulu.SignedBeaconBlock.defaultValue>;
  Object.assign(block.message, { slot: slotOf(fork), proposerIndex });
  if (bytes > 0) block.message.body.executionPayload.transactions = [Buffer.alloc(bytes, 7)];
  const json = { version: fork, execution_optimistic: false, finalized: true, data: type.toJson(block as never) };
  return {
    root: toRootHex(type.fields.message.hashTreeRoot(block.message as never)),
    json: Buffer.from(JSON.stringify(json)),
    ssz: Buffer.from(type.serialize(block as never)),
  };
}

type Block = ReturnType<typeof blockOf>;

interface ServeOptions {
  format: Format;
  version: string | undefined;
}

function serve(upstream: ScriptedUpstream, block: Block, { format, version }: ServeOptions): void {
  upstream.handler = (_request, response) => {
    response.writeHead(200, {
      "content-type": format === "ssz" ? "application/octet-stream" : "application/json",
      "eth-consensus-finalized": "true",
      ...(version !== undefined && { "eth-consensus-version": version }),
    });
    response.end(block[format]);
  };
}

function callFor(block: Block, format: Format, isBlinded = false) {
  const method = isBlinded ? "get_v1_beacon_blinded_blocks_blockId" : "get_v2_beacon_blocks_blockId";
  return methodCall(method, { block_id: block.root }, { format });
}

const bodyOf = (block: Block, format: Format) => String(block[format]);

describe.each(["json", "ssz"] as const)("another block in %s than the one of the requested root", (format) => {
  const cases = FORKS.flatMap((fork) => [
    { fork, isBlinded: false, bytes: 0 },
    ...(FORKS.indexOf(fork) < 2
      ? []
      : [
          { fork, isBlinded: true, bytes: 0 },
          { fork, isBlinded: false, bytes: 200_000 },
        ]),
  ]).filter(({ isBlinded, bytes }) => !(isBlinded && bytes > 0));

  it.each(cases)("is neither returned nor cached: $fork, blinded $isBlinded, $bytes bytes", async (given) => {
    const [right, wrong] = [1, 2].map((proposerIndex) => blockOf({ ...given, proposerIndex })) as [Block, Block];
    const call = callFor(right, format, given.isBlinded);
    serve(honest, right, { format, version: given.fork });
    serve(lying, wrong, { format, version: given.fork });
    const before = lying.questions.length;
    const reader = await openReader({ upstreams: [lying, honest], chainSpec });
    const body = bodyOf(right, format);
    expect(await readWhole(reader, call)).toMatchObject({ upstream: "honest", body, cachedIn: undefined });
    expect(await readWhole(reader, call)).toMatchObject({ body, cachedIn: "memory" });
    expect(lying.questions.length).toBeGreaterThan(before);
  });

  it.each(["fulu", undefined, "zeta", "gloas", "phase0", "deneb"])(
    "is an error of the only upstream, and the next answer is served: it names %s",
    async (version) => {
      const [right, wrong] = [1, 2].map((proposerIndex) => blockOf({ fork: "electra", proposerIndex })) as [
        Block,
        Block,
      ];
      const reader = await openReader({ upstreams: [lying], chainSpec });
      const named = (block: Block): Block => {
        const { version: _, ...rest } = JSON.parse(String(block.json));
        return { ...block, json: Buffer.from(JSON.stringify({ ...(version && { version }), ...rest })) };
      };
      serve(lying, named(wrong), { format, version });
      await expect(reader.read(callFor(right, format))).rejects.toThrow(/lying answered/);
      serve(lying, right, { format, version: "electra" });
      expect(await readWhole(reader, callFor(right, format))).toMatchObject({ body: bodyOf(right, format) });
    },
  );

  it("is not passed on without a cache", async () => {
    const given = { fork: "electra", bytes: 300_000 } as const;
    const [right, wrong] = [1, 2].map((proposerIndex) => blockOf({ ...given, proposerIndex })) as [Block, Block];
    serve(honest, right, { format, version: "electra" });
    serve(lying, wrong, { format, version: "electra" });
    const reader = await openReader({ upstreams: [lying, honest], chainSpec, memoryBytes: 1024 });
    for (let i = 0; i < 2; i++)
      expect(await readWhole(reader, callFor(right, format))).toMatchObject({
        upstream: "honest",
        cachedIn: undefined,
      });
  });
});

it("is not hidden in padding, nor in a second member with an escaped name", async () => {
  const [right, wrong] = [1, 2].map((proposerIndex) => blockOf({ fork: "fulu", proposerIndex })) as [Block, Block];
  const text = String(right.json);
  const { data } = JSON.parse(String(wrong.json));
  const bodies = [
    String(wrong.json).replace("{", `{${" ".repeat(25 * 1024 * 1024)}`),
    text.replace(/\}$/, `,"\\u0064ata":${JSON.stringify(data)}}`),
    text.replace('"message"', `"message":${JSON.stringify(data.message)},"m\\u0065ssage"`),
    String(wrong.json).replace('"data":', '"data":{},"data":'),
  ];
  serve(honest, right, { format: "json", version: "fulu" });
  for (const body of bodies) {
    serve(lying, { ...wrong, json: Buffer.from(body) }, { format: "json", version: "fulu" });
    const reader = await openReader({ upstreams: [lying, honest], chainSpec });
    expect(await readWhole(reader, callFor(right, "json"))).toMatchObject({ upstream: "honest", body: text });
  }
});
