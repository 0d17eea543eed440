import { CELLS_PER_EXT_BLOB, ForkName } from "@lodestar/params";
import { toRootHex } from "@lodestar/utils";
import { expect, it, vi } from "vitest";
import { encodeHeader } from "../../src/evm/execution/header.ts";
import { versionedHashesOf } from "../../src/execution/engine.ts";
import { eventually } from "../network/adversary/support/scenario.ts";
import { createEvmGenesis, range, TestNetwork } from "../network/support/test-network.ts";
import type { TestNode } from "../network/support/test-node.ts";
import { Caller } from "../support/api/caller.ts";
import { account, bytesOf, hexOf, openEvmChain, signedBlob } from "../support/chain/evm-chain.ts";
import { sharedKzg } from "../support/data/kzg/shared-kzg.ts";
import { isFullTier } from "../support/suite/tier.ts";

vi.setConfig({ testTimeout: 120_000 });

const VALIDATORS = 8;
/** GAS_PER_BLOB of EIP-4844. */
const GAS_PER_BLOB = "0x20000";

const TRANSFER = {
  from: hexOf(account(0).address),
  to: hexOf(account(1).address),
  value: "0x1",
};

const ADDRESS = `0x${"c0".repeat(20)}`;
const NETWORKING = {
  address: "127.0.0.1",
  port: 0,
  discovery: false,
  bootnodes: [],
  directPeers: [],
  targetPeers: 1,
  supernode: false,
};

type Fork = ForkName.electra | ForkName.fulu;

interface ColumnJson {
  index: string;
  column: string[];
  kzg_commitments: string[];
  kzg_proofs: string[];
}

/** Two nodes, each with its own EVM. Only the first one has validators. */
async function openNodes(fork: Fork): Promise<{ network: TestNetwork; maker: TestNode; follower: TestNode }> {
  const forks = [{ fork, epoch: 0 }] as const;
  const network = new TestNetwork({ validators: VALIDATORS, forks, evm: await createEvmGenesis(forks) });
  const maker = await network.add(range(0, VALIDATORS), [], { supernode: true, timing: "lockstep" });
  const follower = await network.add([], [maker], { supernode: true });
  await network.untilConnected();
  return { network, maker, follower };
}

if (isFullTier) {
  it.each<Fork>([ForkName.electra, ForkName.fulu])(
    "a second node verifies a transaction with a blob and serves its data on %s",
    async (fork) => {
      const { network, maker, follower } = await openNodes(fork);
      const [made, followed] = [new Caller(maker.api), new Caller(follower.api)];
      await network.clock.advanceTo(1);
      await network.untilSameHead();
      const { config } = network;
      const { sent, blob, commitment } = signedBlob(maker.evm!.engine, 0, { config, slot: 2, fork });
      const hash = await made.call("eth_sendRawTransaction", [hexOf(sent)]);
      await network.clock.advanceTo(2);
      await network.untilSameHead();
      const { head } = follower.chain;
      expect([head.slot, head.execution.status]).toEqual([2, "valid"]);

      const receipt = await made.call("eth_getTransactionReceipt", [hash]);
      expect(receipt).toMatchObject({ type: "0x3", status: "0x1", blockNumber: "0x2", blobGasUsed: GAS_PER_BLOB });
      // The other node has executed the transaction itself.
      expect(await followed.call("eth_getTransactionReceipt", [hash])).toEqual(receipt);
      const block = await followed.call("eth_getBlockByNumber", ["latest", false]);
      expect(block).toMatchObject({ hash: receipt.blockHash, blobGasUsed: GAS_PER_BLOB, transactions: [hash] });
      const { blobVersionedHashes } = await followed.call("eth_getTransactionByHash", [hash]);
      expect(blobVersionedHashes).toEqual(versionedHashesOf([commitment]).map(toRootHex));

      expect(await followed.call("get_v1_beacon_blobs_blockId", ["head"])).toEqual([hexOf(blob)]);
      if (fork === ForkName.fulu) await expectColumns(followed, commitment);
      else await expectSidecar(followed, commitment);
    },
  );
}

it("nodes that disagree about a payload stay on their own chains", async () => {
  const { network, maker, follower } = await openNodes(ForkName.fulu);
  await network.clock.advanceTo(1);
  await network.untilSameHead();
  const { root } = follower.chain.head;
  // The first node builds and accepts a payload with the state of its parent.
  const { engine } = maker.evm!;
  const { stateRoot } = engine.head.header;
  const build = engine.getPayload.bind(engine);
  vi.spyOn(engine, "getPayload").mockImplementation(async (fork, id) => {
    const built = await build(fork, id);
    const { header } = engine.blocks.get(toRootHex(built.payload.blockHash))!;
    const blockHash = engine.rules.crypto.keccak(encodeHeader({ ...header, stateRoot }));
    return { ...built, payload: { ...built.payload, stateRoot, blockHash } };
  });
  vi.spyOn(engine, "notifyNewPayload").mockResolvedValue({ status: "valid" });
  await new Caller(maker.api).call("eth_sendTransaction", [TRANSFER]);
  await network.clock.advanceTo(2);
  await eventually(() => expect(follower.log.join("")).toMatch(/Rejected block.*Invalid stateRoot/));
  expect([maker.chain.head.slot, follower.chain.head.root]).toEqual([2, root]);
  expect(follower.chain.head.execution.status).toBe("valid");
  expect(follower.log.filter((line) => / (ERROR|FATAL) /.test(line))).toEqual([]);
});

it("refuses changes that other nodes could not verify", async () => {
  const { error, call } = await openEvmChain({ networking: NETWORKING });
  const refused: [name: string, params: unknown[]][] = [
    ["anvil_setBalance", [ADDRESS, "0x1"]],
    ["anvil_setCode", [ADDRESS, "0x00"]],
    ["anvil_setNonce", [ADDRESS, "0x1"]],
    ["anvil_setStorageAt", [ADDRESS, "0x0", "0x1"]],
    ["anvil_setNextBlockBaseFeePerGas", ["0x1"]],
    ["evm_setBlockGasLimit", ["0x1c9c380"]],
    ["anvil_impersonateAccount", [ADDRESS]],
    ["anvil_autoImpersonateAccount", [true]],
    ["anvil_reset", []],
  ];
  for (const [name, params] of refused) {
    expect(await error(name, params), name).toMatchObject({
      code: -32004,
      message: expect.stringContaining("--p2p"),
    });
  }
  expect(await call("eth_getBalance", [ADDRESS])).toBe("0x0");
});

/** The node serves all columns, whose cell proofs are valid for the commitment. */
async function expectColumns(caller: Caller, commitment: Uint8Array): Promise<void> {
  const columns: ColumnJson[] = await caller.call("get_v1_debug_beacon_data_column_sidecars_blockId", ["head"]);
  expect(columns.map(({ index }) => Number(index))).toEqual(range(0, CELLS_PER_EXT_BLOB));
  expect(new Set(columns.flatMap(({ kzg_commitments }) => kzg_commitments))).toEqual(new Set([hexOf(commitment)]));
  const batch = {
    commitments: columns.map(() => commitment),
    cellIndices: columns.map(({ index }) => Number(index)),
    cells: columns.map(({ column: [cell] }) => bytesOf(cell!)),
    proofs: columns.map(({ kzg_proofs: [proof] }) => bytesOf(proof!)),
  };
  expect(await sharedKzg.verifyCells(batch)).toBe(true);
}

async function expectSidecar(caller: Caller, commitment: Uint8Array): Promise<void> {
  const [sidecar] = await caller.call("get_v1_beacon_blob_sidecars_blockId", ["head"]);
  expect(sidecar.kzg_commitment).toBe(hexOf(commitment));
  const batch = {
    blobs: [bytesOf(sidecar.blob)],
    commitments: [commitment],
    proofs: [bytesOf(sidecar.kzg_proof)],
  };
  expect(await sharedKzg.verifyBlobs(batch)).toBe(true);
}
