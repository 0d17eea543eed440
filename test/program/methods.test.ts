import { ssz, sszTypesFor } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EMPTY_SLOTS, LAST_SLOT } from "../support/chain/chain-with-gap.ts";
import type { ProgramHere } from "../support/program/program-here.ts";
import type { RpcCall } from "../support/program/program-run.ts";
import { serveTestedChain, TESTED_CHAINS } from "../support/program/tested-chains.ts";

const ZERO_ROOT = `0x${"00".repeat(32)}`;
const UNKNOWN_ROOT = `0x${"5a".repeat(32)}`;
const [, EMPTY_EPOCH_START] = EMPTY_SLOTS;
const BEFORE_GAP = EMPTY_SLOTS[0] - 1;

describe.each(TESTED_CHAINS)("on a chain of $name", (chain) => {
  const { fork, fuluEpoch, headFork, versions } = chain;
  const genesisVersion = versions[0]!;
  let program: ProgramHere;
  let end: () => Promise<void>;

  beforeAll(async () => {
    ({ program, end } = await serveTestedChain(chain));
  }, 120_000);
  afterAll(() => end?.());

  /** Results or error codes. */
  async function ask(...calls: RpcCall[]): Promise<unknown[]> {
    return (await program.batch(calls)).map(({ result, error }) => error?.code ?? result);
  }

  const blockJson = (slot: number | string) => program.call("get_v1_beacon_blocks_blockId", [slot]);
  const stateRoot = async (stateId: unknown) => (await program.call("get_v1_beacon_states_root", [stateId])).root;
  const blockTypes = sszTypesFor(headFork);

  it("1 genesis", async () => {
    const genesisState = await program.call("getBeaconState", ["genesis"]);
    expect(await program.call("get_v1_beacon_genesis")).toEqual({
      genesis_time: genesisState.genesis_time,
      genesis_validators_root: genesisState.genesis_validators_root,
      genesis_fork_version: genesisVersion,
    });
  });

  it("2 state roots", async () => {
    const head = await stateRoot("head");
    expect(await stateRoot(head)).toBe(head);
    expect((await blockJson("head")).message.state_root).toBe(head);
    expect(await stateRoot(LAST_SLOT)).toBe(head);

    const genesis = await stateRoot("genesis");
    expect([await stateRoot("0"), await stateRoot(0)]).toEqual([genesis, genesis]);

    // Each empty slot has its own state, which is also found by root.
    const aroundGap = await Promise.all([BEFORE_GAP, ...EMPTY_SLOTS].map((slot) => stateRoot(slot)));
    expect(new Set(aroundGap).size).toBe(3);
    for (const root of aroundGap) expect(await stateRoot(root)).toBe(root);
    // The first slot of the finalized epoch is empty.
    expect(await stateRoot("finalized")).toBe(aroundGap[2]);
    expect(await stateRoot("justified")).toBe(await stateRoot(40));
  });

  it("3 forks", async () => {
    const forkOf = async (stateId: unknown) => program.call("get_v1_beacon_states_fork", [stateId]);
    const first = versions.at(fuluEpoch === undefined ? -1 : -2);
    const unchanged = { previous_version: first, current_version: first, epoch: "0" };
    expect(await forkOf("genesis")).toEqual(unchanged);
    if (fuluEpoch !== undefined) {
      const upgraded = { previous_version: first, current_version: versions.at(-1), epoch: String(fuluEpoch) };
      expect(await forkOf(fuluEpoch * 8)).toEqual(upgraded);
      expect(await forkOf(fuluEpoch * 8 - 1)).toEqual(unchanged);
    }
    const schedule = await program.call("get_v1_config_fork_schedule");
    expect(schedule.at(-1)).toEqual(await forkOf("head"));
  });

  it("4 finality checkpoints, and 48 the chain's head", async () => {
    const finalityOf = async (stateId: unknown) => program.call("get_v1_beacon_states_finality_checkpoints", [stateId]);
    const none = { epoch: "0", root: ZERO_ROOT };
    expect(await finalityOf("genesis")).toEqual({ previous_justified: none, current_justified: none, finalized: none });

    const [gapRoot, justifiedRoot, headRoot] = await Promise.all(
      [BEFORE_GAP, 40, "head"].map(async (id) => (await program.call("get_v1_beacon_blocks_blockId_root", [id])).root),
    );
    const finality = await finalityOf("head");
    expect(finality).toMatchObject({
      current_justified: { epoch: "5", root: justifiedRoot },
      finalized: { epoch: "4", root: gapRoot },
    });
    expect(await program.call("getChainHead")).toEqual({
      head_slot: String(LAST_SLOT),
      head_block_root: headRoot,
      finalized_slot: String(EMPTY_EPOCH_START),
      finalized_block_root: gapRoot,
      justified_slot: "40",
      justified_block_root: justifiedRoot,
    });
    expect(Number((await finalityOf("finalized")).finalized.epoch)).toBeLessThan(4);
  });

  it("9 headers", async () => {
    const headersOf = async (...params: unknown[]) => program.call("get_v1_beacon_headers", params);
    const head = await program.call("get_v1_beacon_headers_blockId", ["head"]);
    const { parent_root } = head.header.message;
    for (const params of [[], [LAST_SLOT], [null, parent_root], [String(LAST_SLOT), parent_root]]) {
      expect(await headersOf(...params)).toEqual([head]);
    }
    expect(await program.call("get_v1_beacon_headers", { parent_root })).toEqual([head]);
    for (const params of [[EMPTY_EPOCH_START], [LAST_SLOT + 1], [null, head.root], [7, parent_root], [1_000_000]]) {
      expect(await headersOf(...params), String(params)).toEqual([]);
    }
    // The child of a finalized block is found across the gap.
    const { root } = await program.call("get_v1_beacon_headers_blockId", [BEFORE_GAP]);
    const [child] = await headersOf(null, root);
    expect(child).toMatchObject({ canonical: true, header: { message: { slot: String(EMPTY_EPOCH_START + 1) } } });
  });

  it.each(["genesis", "head", "finalized", LAST_SLOT, 7])("10, 12–14 the block %s in all formats", async (id) => {
    const [header, block, byRoot, attestations] = (await ask(
      ["get_v1_beacon_headers_blockId", [id]],
      ["get_v1_beacon_blocks_blockId", [id]],
      ["get_v1_beacon_blocks_blockId_root", [id]],
      ["get_v1_beacon_blocks_blockId_attestations", [id]],
    )) as [Record<string, never>, { message: { body: { attestations: unknown } }; signature: string }, object, object];
    const { message, signature } = ssz.phase0.SignedBeaconBlockHeader.fromJson(header.header);
    const root = toRootHex(ssz.phase0.BeaconBlockHeader.hashTreeRoot(message));
    expect(header).toMatchObject({ root, canonical: true });
    expect(byRoot).toEqual({ root });
    expect(attestations).toEqual(block.message.body.attestations);
    expect(block.signature).toBe(ssz.BLSSignature.toJson(signature));
    const types = message.slot >= 24 ? blockTypes : sszTypesFor(fork);
    const signed = types.SignedBeaconBlock.fromJson(block);
    expect(toRootHex(types.BeaconBlock.hashTreeRoot(signed.message as never))).toBe(root);
    expect(types.BeaconBlockBody.hashTreeRoot(signed.message.body as never)).toEqual(message.bodyRoot);
    // The same block by root.
    expect(await program.call("get_v1_beacon_headers_blockId", [root])).toEqual(header);
  });

  it("12 blocks: contents", async () => {
    const genesis = await blockJson("genesis");
    expect(genesis.message).toMatchObject({ slot: "0", proposer_index: "0", parent_root: ZERO_ROOT });
    expect(genesis.message.state_root).toBe(await stateRoot("genesis"));
    expect(genesis.message.body.attestations).toEqual([]);
    expect(genesis.signature).toBe(`0x${"00".repeat(96)}`);
    const finalized = await blockJson("finalized");
    expect(finalized.message.slot).toBe(String(BEFORE_GAP));
    expect(finalized.message.body.graffiti).toMatch(/^0x[0-9a-f]{64}$/);
  });

  it("46 heads, 47 head, 51 and 27 syncing, 25 peers, 28 health", async () => {
    const { root } = await program.call("get_v1_beacon_blocks_blockId_root", ["head"]);
    const slot = String(LAST_SLOT);
    expect(
      await ask(
        ["get_v2_debug_beacon_heads"],
        ["get_v1_debug_beacon_heads"],
        ["getBeaconHead"],
        ["getSyncing"],
        ["get_v1_node_syncing"],
        ["get_v1_node_peer_count"],
        ["get_v1_node_health"],
        ["get_v1_node_health", [599]],
      ),
    ).toEqual([
      [{ root, slot, execution_optimistic: false }],
      [{ root, slot }],
      slot,
      false,
      { head_slot: slot, sync_distance: "0", is_syncing: false, is_optimistic: false, el_offline: false },
      { disconnected: "0", connecting: "0", connected: "0", disconnecting: "0" },
      { health: 200 },
      { health: 200 },
    ]);
  });

  it("26 and 49 the version", async () => {
    const { version } = await program.call("get_v1_node_version");
    expect(version).toMatch(/^Fanal\/v\d+\.\d+\.\d+/);
    expect(await program.call("getNodeVersion")).toBe(version);
  });

  it("41–44 the configuration", async () => {
    const schedule = await program.call("get_v1_config_fork_schedule");
    expect(schedule.map(({ current_version }: { current_version: string }) => current_version)).toEqual(versions);
    for (const [position, { previous_version }] of schedule.entries()) {
      expect(previous_version).toBe(versions[Math.max(position - 1, 0)]);
    }
    const spec = await program.call("get_v1_config_spec");
    expect(spec).toMatchObject({ SLOTS_PER_EPOCH: "8", SECONDS_PER_SLOT: "2", GENESIS_FORK_VERSION: genesisVersion });
    expect(spec).toMatchObject({ PRESET_BASE: "minimal", MAX_COMMITTEES_PER_SLOT: "4", DOMAIN_RANDAO: "0x02000000" });
    for (const [name, value] of Object.entries(spec)) {
      expect(typeof value === "string" || Array.isArray(value), name).toBe(true);
    }
    const contract = await program.call("get_v1_config_deposit_contract");
    expect(contract.chain_id).toBe(spec.DEPOSIT_CHAIN_ID);
    expect(contract.address.toLowerCase()).toBe(spec.DEPOSIT_CONTRACT_ADDRESS.toLowerCase());
    const preset = await program.call("getSpecPreset");
    expect(preset).toMatchObject({ ...spec, slots_per_epoch: "8" });
  });

  it("55 and 56 blocks and states, or null", async () => {
    const head = await blockJson("head");
    const headRoot = (await program.call("get_v1_beacon_blocks_blockId_root", ["head"])).root;
    for (const params of [
      [LAST_SLOT],
      [String(LAST_SLOT)],
      [null, headRoot],
      ["head"],
      [headRoot],
      { root: headRoot },
    ]) {
      expect(await program.call("getBeaconBlock", params)).toEqual(head);
    }
    const root = await stateRoot(LAST_SLOT);
    const state = await program.call("getBeaconState", [null, root]);
    const type = blockTypes.BeaconState;
    expect(toRootHex(type.hashTreeRoot(type.fromJson(state) as never))).toBe(root);
    expect(await program.call("getBeaconState", ["head"])).toEqual(state);
    expect(await program.call("getBeaconState", [EMPTY_EPOCH_START])).toMatchObject({
      slot: String(EMPTY_EPOCH_START),
    });
    for (const method of ["getBeaconBlock", "getBeaconState"]) {
      expect(
        await ask([method, [1_000_000]], [method, [null, UNKNOWN_ROOT]], [method, []], [method, [7, UNKNOWN_ROOT]]),
      ).toEqual([null, null, -32602, -32602]);
    }
    expect(await program.call("getBeaconBlock", [EMPTY_EPOCH_START])).toBeNull();
  });

  it("malformed, missing and excessive requests have their error codes", async () => {
    const states = ["root", "fork", "finality_checkpoints"].map((name) => `get_v1_beacon_states_${name}`);
    const blocks = [
      "headers_blockId",
      ...["", "_root", "_attestations"].map((suffix) => `blocks_blockId${suffix}`),
    ].map((name) => `get_v1_beacon_${name}`);
    const malformed = [
      "HEAD",
      "",
      "-1",
      "01",
      "1e3",
      " 1",
      -1,
      1.5,
      2 ** 53,
      true,
      {},
      ["head"],
      "0x",
      UNKNOWN_ROOT.slice(2),
    ];
    const calls: [RpcCall, number][] = [...states, ...blocks].flatMap((method): [RpcCall, number][] => [
      ...[...malformed, `${UNKNOWN_ROOT}0`, "18446744073709551616", null].map((id): [RpcCall, number] => [
        [method, [id]],
        -32602,
      ]),
      [[method, []], -32602],
      [[method, ["head", "head"]], -32602],
      [[method, { id: "head" }], -32602],
      [[method, [UNKNOWN_ROOT]], -32001],
      [[method, [LAST_SLOT + 1]], -32001],
      [[method, ["18446744073709551615"]], -32001],
    ]);
    for (const method of blocks) {
      calls.push([[method, ["justified"]], -32602], [[method, [EMPTY_EPOCH_START]], -32001]);
    }
    for (const params of [["x"], [null, "0x12"], [-1], [1, UNKNOWN_ROOT, 2]]) {
      calls.push([["get_v1_beacon_headers", params], -32602]);
    }
    for (const status of [99, 600, "many", 200.5]) calls.push([["get_v1_node_health", [status]], -32602]);
    const codes = await ask(...calls.map(([call]) => call));
    for (const [position, [call, code]] of calls.entries()) expect(codes[position], JSON.stringify(call)).toBe(code);
  });

  it("metadata is in headers, and next to the result on request", async () => {
    const call = { jsonrpc: "2.0", id: 1, method: "get_v1_beacon_blocks_blockId", params: ["head"] };
    const response = await program.post(call);
    expect(response.headers.get("eth-consensus-version")).toBe(headFork);
    expect(await response.json()).not.toHaveProperty("meta");
    const [withMeta, finalized, without] = await program.batch([
      ["get_v1_beacon_blocks_blockId", ["head"], { meta: true }],
      ["get_v1_beacon_states_root", ["finalized"], { meta: true }],
      ["get_v1_beacon_states_root", ["finalized"]],
    ]);
    expect(withMeta!.meta).toEqual({ version: headFork, execution_optimistic: false, finalized: false });
    expect(finalized!.meta).toEqual({ execution_optimistic: false, finalized: true });
    expect(without).not.toHaveProperty("meta");
    const old = await program.reply("get_v1_beacon_blocks_blockId", [7], { meta: true });
    expect(old.meta).toEqual({ version: fork, execution_optimistic: false, finalized: true });
  });
});
