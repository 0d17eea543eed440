import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { latestBlockHeader } from "../../src/chain/anchor/anchor.ts";
import { serializeSignedBlock } from "../../src/chain/blocks/block-encoding.ts";
import type { StateStore } from "../../src/chain/states/state-store.ts";
import { serveApi } from "../support/api/served-api.ts";
import { type OpenedDevChain, startQuietDevChain } from "../support/chain/dev-chain.ts";
import { writeNetworkDirectory } from "../support/directories/network-directory.ts";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ProgramHere } from "../support/program/program-here.ts";
import type { RpcCall } from "../support/program/program-run.ts";
import { isFullTier, variants } from "../support/suite/tier.ts";

// Starts many programs, each of which may take long on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

type State = Awaited<ReturnType<StateStore["afterBlock"]>>;

const HISTORY_SLOTS = 44;
/** A slot in the middle of an epoch. */
const MIDDLE = 29;

/** A chain with genesis 800 seconds, or 400 slots, ago. A node with only its start is far behind. */
let phase0: OpenedDevChain;
let fulu: OpenedDevChain;
beforeAll(async () => {
  const options = { validators: 8, warmupEpochs: 50 };
  phase0 = await startQuietDevChain(HISTORY_SLOTS, options);
  fulu = await startQuietDevChain(HISTORY_SLOTS, { ...options, forks: [{ fork: "fulu", epoch: 0 }] });
}, 120_000);
afterAll(async () => {
  await phase0?.close();
  await fulu?.close();
});

async function genesisOf({ devChain }: OpenedDevChain): Promise<State> {
  return (await devChain.chain.states.genesis())!;
}

async function canonicalState({ devChain }: OpenedDevChain, blockSlot: number, slot = blockSlot): Promise<State> {
  const block = await devChain.chain.blocks.canonicalAtSlot(blockSlot);
  return devChain.chain.states.afterBlock(block!.root, slot);
}

/** Ten minutes, as on other networks. Otherwise a node alone with a dev chain would never count as behind. */
const HORIZON = ["--sync-horizon", "300"];

/** Flags of the only node of the chain's network. */
function nodeOf({ devChain }: OpenedDevChain, genesis?: Uint8Array): string[] {
  const network = writeNetworkDirectory(join(tempDirectory(), "smallnet"), devChain.config, genesis);
  return ["node", "--network", network, "--data-dir", tempDirectory(), "--no-p2p", ...HORIZON];
}

function fileOf(state: State): string {
  const path = join(tempDirectory(), "state.ssz");
  writeFileSync(path, state.serialize());
  return path;
}

async function answers(program: ProgramHere, calls: RpcCall[]): Promise<unknown[]> {
  return (await program.batch(calls)).map(({ result, error }) => error?.code ?? result);
}

describe("a node that starts from genesis", () => {
  it("serves its network and reports that it is far behind, unless it is alone with a dev chain", async () => {
    const genesis = await genesisOf(phase0);
    const { config } = phase0.devChain;
    const root = (await phase0.devChain.chain.blocks.genesis())!.root;
    const stateRoot = toRootHex(genesis.hashTreeRoot());
    const flags = nodeOf(phase0, genesis.serialize());
    const node = await ProgramHere.served(flags);
    const zero = `0x${"00".repeat(32)}`;
    expect(
      await answers(node, [
        ["get_v1_beacon_genesis"],
        ["getChainHead"],
        ["get_v1_beacon_blocks_blockId_root", ["genesis"]],
        ["get_v1_beacon_states_root", ["finalized"]],
        ["get_v1_beacon_states_root", ["justified"]],
        ["get_v1_config_fork_schedule"],
      ]),
    ).toEqual([
      {
        genesis_time: String(genesis.genesisTime),
        genesis_validators_root: toRootHex(genesis.genesisValidatorsRoot),
        genesis_fork_version: "0x0000fa4a",
      },
      {
        head_slot: "0",
        head_block_root: root,
        finalized_slot: "0",
        finalized_block_root: zero,
        justified_slot: "0",
        justified_block_root: zero,
      },
      { root },
      { root: stateRoot },
      { root: stateRoot },
      [{ previous_version: "0x0000fa4a", current_version: "0x0000fa4a", epoch: "0" }],
    ]);
    expect(await node.call("get_v1_config_spec")).toMatchObject({
      CONFIG_NAME: config.CONFIG_NAME,
      SECONDS_PER_SLOT: "2",
      SHARD_COMMITTEE_PERIOD: String(config.SHARD_COMMITTEE_PERIOD),
    });

    const syncing = await node.call("get_v1_node_syncing");
    expect(syncing).toMatchObject({ head_slot: "0", is_syncing: true, is_optimistic: false, el_offline: false });
    expect(Number(syncing.sync_distance)).toBeGreaterThanOrEqual(400);
    expect(await answers(node, [["getSyncing"], ["get_v1_node_health"], ["get_v1_node_health", [299]]])).toEqual([
      true,
      { health: 206 },
      { health: 299 },
    ]);
    expect(node.output).not.toMatch(/ (WARN|ERROR|FATAL) /);
    expect(await node.stop()).toEqual({ code: 0, signal: null });

    const patient = await ProgramHere.served(flags.slice(0, -HORIZON.length));
    const alone = await patient.call("get_v1_node_syncing");
    expect(alone).toMatchObject({ head_slot: "0", sync_distance: "0", is_syncing: false, el_offline: false });
    expect(await answers(patient, [["getSyncing"], ["get_v1_node_health"]])).toEqual([false, { health: 200 }]);
    // Its validators may continue the chain.
    const { genesis_time } = await patient.call("get_v1_beacon_genesis");
    const epoch = Math.floor((Date.now() / 1000 - Number(genesis_time)) / (2 * 8));
    expect(await patient.call("get_v1_validator_duties_proposer", [epoch])).toHaveLength(8);
  });

  it("reads the genesis state from a file, only once", async () => {
    const flags = nodeOf(fulu);
    const first = await ProgramHere.served([...flags, "--genesis-state", fileOf(await genesisOf(fulu))]);
    const head = await first.call("getChainHead");
    expect(head.head_block_root).toBe((await fulu.devChain.chain.blocks.genesis())!.root);
    // The built-in engine validates the payloads of a dev chain.
    expect(await first.call("get_v1_node_syncing")).toMatchObject({ el_offline: false, is_optimistic: false });
    expect(await first.call("get_v1_beacon_blocks_blockId", ["genesis"])).toMatchObject({ message: { slot: "0" } });
    await first.stop();
    const second = await ProgramHere.served(flags);
    expect(await second.call("getChainHead")).toEqual(head);
  });

  it("waits for a future genesis, and counts as synced", async () => {
    const genesis = (await genesisOf(phase0)).clone();
    genesis.genesisTime = Math.floor(Date.now() / 1000) + 100_000;
    genesis.commit();
    const node = await ProgramHere.served(nodeOf(phase0, genesis.serialize()));
    expect(
      await answers(node, [
        ["getBeaconHead"],
        ["get_v1_node_syncing"],
        ["get_v1_node_health"],
        ["get_v1_beacon_states_root", ["head"]],
        ["get_v1_beacon_states_root", [0]],
        ["get_v1_beacon_states_root", [1]],
      ]),
    ).toEqual([
      "0",
      { head_slot: "0", sync_distance: "0", is_syncing: false, is_optimistic: false, el_offline: false },
      { health: 200 },
      { root: toRootHex(genesis.hashTreeRoot()) },
      { root: toRootHex(genesis.hashTreeRoot()) },
      -32001,
    ]);
  });
});

describe("a node that starts from a later state", () => {
  const anchors: [name: string, load: () => Promise<State>][] = [
    ["the state of a finalized checkpoint", () => canonicalState(phase0, 24)],
    ["a state in the middle of an epoch", () => canonicalState(phase0, MIDDLE)],
    ["a state advanced past its block", () => canonicalState(phase0, MIDDLE, MIDDLE + 2)],
    ["a state advanced over the end of its block's epoch", () => canonicalState(phase0, MIDDLE, 33)],
  ];
  it.each(variants({ fast: anchors.slice(1, 2), full: anchors.toSpliced(1, 1) }))("%s", async (_, load) => {
    const state = await load();
    const stateRoot = toRootHex(state.hashTreeRoot());
    const header = latestBlockHeader(state);
    const blockRoot = (await phase0.devChain.chain.blocks.canonicalAtSlot(header.slot))!.root;
    const hasPostState = state.slot === header.slot;
    const checkpointOf = ({ epoch, root }: { epoch: number; root: Uint8Array }) => ({
      epoch: String(epoch),
      root: toRootHex(root),
    });
    // The genesis state is next to the network's configuration.
    const genesis = await genesisOf(phase0);
    const genesisState = toRootHex(genesis.hashTreeRoot());
    const genesisBlock = (await phase0.devChain.chain.blocks.genesis())!.root;
    const genesisHeader = expect.objectContaining({ root: genesisBlock, canonical: true });
    const questions: [call: RpcCall, answer: unknown][] = [
      [["getChainHead"], expect.objectContaining({ head_slot: String(header.slot), head_block_root: blockRoot })],
      [["get_v2_debug_beacon_heads"], [{ root: blockRoot, slot: String(header.slot), execution_optimistic: false }]],
      [["get_v1_beacon_states_root", ["head"]], { root: stateRoot }],
      [["get_v1_beacon_states_root", ["finalized"]], { root: stateRoot }],
      [["get_v1_beacon_states_root", [stateRoot]], { root: stateRoot }],
      [
        ["get_v1_beacon_states_finality_checkpoints", ["head"]],
        {
          previous_justified: checkpointOf(state.previousJustifiedCheckpoint),
          current_justified: checkpointOf(state.currentJustifiedCheckpoint),
          finalized: checkpointOf(state.finalizedCheckpoint),
        },
      ],
      [["getBeaconState", ["head"]], expect.objectContaining({ slot: String(state.slot) })],
      // The node is syncing, so it has no view of slots after its head.
      [["get_v1_beacon_states_root", [header.slot]], hasPostState ? { root: stateRoot } : -32001],
      [["get_v1_beacon_states_root", [header.slot - 1]], -32001],
      [["get_v1_beacon_states_root", ["genesis"]], { root: genesisState }],
      [["get_v1_beacon_states_root", [0]], { root: genesisState }],
      [["get_v1_beacon_states_root", [genesisState]], { root: genesisState }],
      [["get_v1_beacon_states_root", [1]], -32001],
      [["getBeaconState", ["genesis"]], expect.objectContaining({ slot: "0" })],
      [
        ["get_v1_beacon_states_stateId_validators_validatorId", ["genesis", "3"]],
        expect.objectContaining({ index: "3", status: "active_ongoing" }),
      ],
      [["get_v1_beacon_states_root", ["justified"]], { root: stateRoot }],
      // The state does not contain its block.
      [["get_v1_beacon_blocks_blockId", [blockRoot]], -32001],
      [["get_v1_beacon_headers_blockId", ["head"]], -32001],
      // But it identifies the block.
      [["get_v1_beacon_blocks_blockId_root", ["finalized"]], { root: blockRoot }],
      [["get_v1_beacon_blocks_blockId_root", ["head"]], { root: blockRoot }],
      [["get_v1_beacon_blocks_blockId_root", [header.slot]], { root: blockRoot }],
      [["get_v1_beacon_blocks_blockId_root", [blockRoot]], { root: blockRoot }],
      [["get_v1_beacon_blocks_blockId_root", [header.slot - 1]], -32001],
      [["get_v1_beacon_blocks_blockId_root", ["genesis"]], { root: genesisBlock }],
      [["get_v1_beacon_blocks_blockId_root", [0]], { root: genesisBlock }],
      [["get_v1_beacon_blocks_blockId_root", [1]], -32001],
      [["get_v1_beacon_headers_blockId", ["genesis"]], genesisHeader],
      [["get_v1_beacon_headers_blockId", [genesisBlock]], genesisHeader],
      [["get_v1_beacon_headers", [0]], [genesisHeader]],
      [["get_v1_beacon_blocks_blockId", [0]], expect.objectContaining({ signature: `0x${"00".repeat(96)}` })],
      [["getBeaconBlock", [header.slot]], null],
      [["get_v1_beacon_headers"], []],
      [["get_v1_beacon_headers", [null, blockRoot]], []],
    ];
    const flags = nodeOf(phase0, genesis.serialize());
    const first = await ProgramHere.served([...flags, "--checkpoint-state", fileOf(state)]);
    const given = await answers(
      first,
      questions.map(([call]) => call),
    );
    for (const [position, [call, answer]] of questions.entries()) {
      expect(given[position], call.join(" ")).toEqual(answer);
    }
    expect(first.output).not.toMatch(/ (WARN|ERROR|FATAL) /);
    for (const id of ["finalized", "genesis"]) {
      const { meta } = await first.reply("get_v1_beacon_states_root", [id], { meta: true });
      expect(meta).toEqual({ execution_optimistic: false, finalized: true });
    }
    const { meta } = await first.reply("get_v1_beacon_headers_blockId", ["genesis"], { meta: true });
    expect(meta).toEqual({ execution_optimistic: false, finalized: true });
    expect(await first.stop()).toEqual({ code: 0, signal: null });

    const second = await ProgramHere.served(flags);
    expect(
      await answers(
        second,
        questions.map(([call]) => call),
      ),
    ).toEqual(given);
  });

  if (isFullTier) {
    it("fetches the state's block from the same server", async () => {
      const { chain, config } = fulu.devChain;
      const state = await canonicalState(fulu, MIDDLE);
      const block = (await chain.blocks.canonicalAtSlot(MIDDLE))!;
      const server = createServer(({ url, headers }, response) => {
        const bytes = new Map([
          ["/eth/v2/debug/beacon/states/finalized", state.serialize()],
          [`/eth/v2/beacon/blocks/${block.root}`, serializeSignedBlock(config, block.signed)],
        ]).get(url!);
        if (bytes === undefined || headers.accept !== "application/octet-stream") response.writeHead(404).end();
        else response.writeHead(200, { "content-type": "application/octet-stream" }).end(bytes);
      }).listen(0, "127.0.0.1");
      onTestFinished(() => void server.close());
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/eth/v2/debug/beacon/states/finalized`;

      const flags = nodeOf(fulu);
      const first = await ProgramHere.served([...flags, "--checkpoint-state", url]);
      const questions: RpcCall[] = [
        ["get_v1_beacon_blocks_blockId", [block.root]],
        ["get_v1_beacon_headers_blockId", ["head"]],
        ["get_v1_beacon_headers", []],
        ["get_v1_beacon_blocks_blockId_root", ["finalized"]],
        ["get_v1_beacon_states_root", ["head"]],
      ];
      const given = await answers(first, questions);
      for (const method of ["get_v1_beacon_states_root", "get_v1_beacon_headers_blockId"]) {
        for (const id of ["genesis", 0]) {
          const { error } = await first.reply(method, [id]);
          expect(error).toMatchObject({
            code: -32001,
            message: expect.stringContaining("genesis state of its network"),
          });
        }
      }
      const header = expect.objectContaining({ root: block.root, canonical: true });
      expect(given).toEqual([
        config.getForkTypes(MIDDLE).SignedBeaconBlock.toJson(block.signed as never),
        header,
        [header],
        { root: block.root },
        { root: toRootHex(block.signed.message.stateRoot) },
      ]);
      expect(first.output).not.toMatch(/ (WARN|ERROR|FATAL) /);
      await first.stop();
      const second = await ProgramHere.served(flags);
      expect(await answers(second, questions)).toEqual(given);
    });
  }

  it("fetches the finalized state and its block from another node's REST API", async () => {
    const { chain, config, api } = fulu.devChain;
    const served = await serveApi(api);
    onTestFinished(() => served.close());
    const block = (await chain.blocks.byRoot(chain.forkChoice.finalized.root))!;
    const { slot } = block.signed.message;
    expect(slot).toBeGreaterThan(0);
    const node = await ProgramHere.served([...nodeOf(fulu), "--checkpoint-sync-url", `${served.restUrl}/`]);
    expect(
      await answers(node, [
        ["getBeaconHead"],
        ["get_v1_beacon_states_root", ["head"]],
        ["get_v1_beacon_blocks_blockId", ["head"]],
      ]),
    ).toEqual([
      String(slot),
      { root: toRootHex(block.signed.message.stateRoot) },
      config.getForkTypes(slot).SignedBeaconBlock.toJson(block.signed as never),
    ]);
    expect(node.output).not.toMatch(/ (WARN|ERROR|FATAL) /);
  });

  if (isFullTier) {
    it("follows a chain with the EVM without executing its payloads, with a warning", async () => {
      const dataDir = tempDirectory();
      const flags = "--validators 8 --warmup-epochs 5 --rest --rest-port 0".split(" ");
      const source = await ProgramHere.dev(["--data-dir", dataDir, ...flags], { env: { FANAL_EVM: "true" } });
      await source.untilLine(/Dev chain is running/);
      const [, url] = await source.untilLine(/REST is served at (http:\S+)/);
      const node = ["node", "--network", join(dataDir, "network"), "--data-dir", tempDirectory(), "--no-p2p"];
      for (const start of [["--checkpoint-sync-url", url!], []]) {
        const follower = await ProgramHere.served([...node, ...start]);
        expect(follower.output).toMatch(/ WARN .*No EVM after a start from a checkpoint/);
        expect(Number(await follower.call("getBeaconHead"))).toBeGreaterThan(0);
        expect(follower.errors).toEqual([]);
        await follower.stop();
      }
    });
  }

  if (isFullTier) {
    it("starts without the block if the server does not provide it, with a warning", async () => {
      const state = await canonicalState(phase0, 24);
      const server = createServer(({ url }, response) => {
        if (url === "/state") response.writeHead(200).end(state.serialize());
        else response.writeHead(200).end("no block");
      }).listen(0, "127.0.0.1");
      onTestFinished(() => void server.close());
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/state`;
      const node = await ProgramHere.served([...nodeOf(phase0), "--checkpoint-state", url]);
      await node.untilLine(/WARN .*Checkpoint block download failed, not serving it/);
      expect(await answers(node, [["getBeaconHead"], ["get_v1_beacon_headers_blockId", ["head"]]])).toEqual([
        "24",
        -32001,
      ]);
    });
  }
});

it("a state older than the weak subjectivity period causes a warning at every start", async () => {
  const { config } = phase0.devChain;
  // The clock is at epoch 50.
  const shortPeriod = { ...config, MIN_VALIDATOR_WITHDRAWABILITY_DELAY: 40 };
  const network = writeNetworkDirectory(join(tempDirectory(), "smallnet"), shortPeriod);
  const flags = ["node", "--network", network, "--data-dir", tempDirectory(), "--no-p2p"];
  const warning = /WARN .*older than the weak subjectivity period.*--checkpoint-sync-url.*epoch=3 .*periodEpochs=40/;
  const first = await ProgramHere.served([...flags, "--checkpoint-state", fileOf(await canonicalState(phase0, 24))]);
  await first.untilLine(warning);
  expect(await first.stop()).toEqual({ code: 0, signal: null });
  const second = await ProgramHere.served(flags);
  await second.untilLine(warning);
});
