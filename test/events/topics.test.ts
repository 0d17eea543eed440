import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { expect, it, onTestFinished } from "vitest";
import type { Api } from "../../src/api/api.ts";
import { TOPICS, type Topic } from "../../src/api/event-stream.ts";
import { ExampleDevChain } from "../support/api/example-chain.ts";
import { serveApi } from "../support/api/served-api.ts";
import { ByHand } from "../support/chain/by-hand.ts";
import { advance, openDevChain, QUIET } from "../support/chain/dev-chain.ts";
import { Client } from "../support/server/jsonrpc/websocket/client.ts";
import { variants } from "../support/suite/tier.ts";
import { formOf, readExamples, topicsOf } from "./event-examples.ts";

const EXAMPLES = { [ForkName.phase0]: readExamples("v2.5.0"), [ForkName.fulu]: readExamples("v4.0.0") };

/** Topics without events on the chains of these tests, for lack of blobs or of a fork. */
const SILENT = [
  "blob_sidecar",
  "data_column_sidecar",
  "execution_payload",
  "execution_payload_gossip",
  "execution_payload_available",
  "execution_payload_bid",
  "proposer_preferences",
  "payload_attestation_message",
  "fast_confirmation",
];

/** All topics except those of light clients, whose events are optional, and those that the documents lack. */
const POSTED = TOPICS.filter((topic) => !topic.startsWith("light_client") && topic !== "head_v2");

interface Told {
  topic: Topic;
  // An event of a topic, in the shape of its example.
  data: Record<string, unknown>;
}

/** A WebSocket subscription to topics. */
async function listen(api: Api, topics: readonly Topic[], fork: ForkName.phase0 | ForkName.fulu) {
  const { jsonRpcUrl, close } = await serveApi(api);
  onTestFinished(close);
  const client = await Client.connect(jsonRpcUrl);
  const id = await client.subscribe(topics);
  return {
    id,
    client,
    /** Returns the next events, after checking their shape against the standard's examples. */
    async next(count: number): Promise<Told[]> {
      const notifications = await client.notifications.take(count);
      return notifications.map(({ subscription, topic, data }) => {
        expect(subscription).toBe(id);
        const told = { topic, data } as Told;
        expect(formOf(told.data), told.topic).toEqual(formOf(EXAMPLES[fork].get(told.topic)));
        return told;
      });
    },
    /** Returns unread events, once all earlier events have arrived. */
    async rest(): Promise<number> {
      await client.call("getNodeVersion");
      return client.notifications.left;
    },
  };
}

it.each(variants({ fast: [ForkName.fulu], full: [ForkName.phase0] } as const))(
  "objects posted on %s are published unchanged",
  async (fork) => {
    const chain = await ExampleDevChain.open(fork);
    onTestFinished(() => chain.close());
    const listener = await listen(chain.api, POSTED, fork);
    const { caller } = chain;
    const heard = new Set<Topic>();
    const expectTold = async (...expected: Told[]) => {
      expect(await listener.next(expected.length)).toEqual(expected);
      for (const { topic } of expected) heard.add(topic);
    };
    const as = (topic: string, data: unknown) => ({ topic, data }) as Told;

    const block = await chain.signedBlock();
    await caller.call("post_v1_beacon_blocks", [block]);
    const { root, slot } = chain.chain.head;
    const { block: reached, ...rest } = (await listener.next(3)).reduce<Record<string, Told["data"]>>(
      (told, { topic, data }) => Object.assign(told, { [topic]: data }),
      {},
    );
    expect(reached).toEqual({ slot: String(slot), block: root, execution_optimistic: false });
    expect(Object.keys(rest)).toEqual(["block_gossip", "head"]);
    expect(rest.block_gossip).toEqual({ slot: String(slot), block: root });
    expect(rest.head).toMatchObject({
      slot: String(slot),
      block: root,
      state: chain.chain.head.stateRoot,
      epoch_transition: false,
      execution_optimistic: false,
    });
    // A block that is posted again publishes no event.
    await caller.call("post_v1_beacon_blocks", [block]);
    expect(await listener.rest()).toBe(0);

    const attestations = await chain.attestations();
    await caller.call("post_v1_beacon_pool_attestations", attestations);
    const attestationTopic = fork === ForkName.phase0 ? "attestation" : "single_attestation";
    await expectTold(...attestations.map((attestation) => as(attestationTopic, attestation)));

    const aggregate = await chain.signedAggregate();
    await caller.call("post_v1_validator_aggregate_and_proofs", [aggregate]);
    await expectTold(as("attestation", (aggregate.message as Record<string, unknown>).aggregate));

    const exit = chain.voluntaryExit(12);
    await caller.call("post_v1_beacon_pool_voluntary_exits", [exit]);
    await expectTold(as("voluntary_exit", exit));
    const proposerSlashing = chain.proposerSlashing(11);
    await caller.call("post_v1_beacon_pool_proposer_slashings", [proposerSlashing]);
    await expectTold(as("proposer_slashing", proposerSlashing));
    const attesterSlashing = chain.attesterSlashing(9, 10);
    await caller.call("post_v1_beacon_pool_attester_slashings", [attesterSlashing]);
    await expectTold(as("attester_slashing", attesterSlashing));

    if (fork === ForkName.fulu) {
      await caller.call("post_v1_beacon_pool_sync_committees", [await chain.syncCommitteeMessages()]);
      const contribution = await chain.signedContribution();
      await caller.call("post_v1_validator_contribution_and_proofs", [[contribution]]);
      await expectTold(as("contribution_and_proof", contribution));
      const change = chain.operations.credentialsChange(3, new Uint8Array(20).fill(0xab));
      await chain.chain.processor.blsToExecutionChange(change);
      await expectTold(as("bls_to_execution_change", ssz.capella.SignedBLSToExecutionChange.toJson(change)));
      const unheard = POSTED.filter((topic) => !heard.has(topic));
      const told = ["head", "block", "block_gossip", "finalized_checkpoint", "chain_reorg", "payload_attributes"];
      expect(new Set(unheard)).toEqual(new Set([...told, ...SILENT]));
    }
    expect(await listener.rest()).toBe(0);
  },
);

it("every head and finalized checkpoint of a chain is published in order", async () => {
  const { devChain } = await openDevChain();
  const listener = await listen(devChain.api, ["head", "finalized_checkpoint"] as Topic[], ForkName.phase0);
  await advance(devChain, 40);
  const { finalized } = devChain.chain.forkChoice;
  expect(finalized.epoch).toBeGreaterThan(0);

  const told = await listener.next(40 + finalized.epoch - 1);
  expect(await listener.rest()).toBe(0);
  const heads = told.filter(({ topic }) => topic === "head");
  expect(heads.map(({ data }) => data.slot)).toEqual(Array.from({ length: 40 }, (_, index) => String(index + 1)));
  expect(heads.filter(({ data }) => data.epoch_transition).map(({ data }) => data.slot)).toEqual(
    [8, 16, 24, 32, 40].map(String),
  );
  const checkpoints = told.filter(({ topic }) => topic === "finalized_checkpoint").map(({ data }) => data);
  expect(checkpoints.at(-1)).toMatchObject({ epoch: String(finalized.epoch), block: finalized.root });
});

it("each head is also published in the newer format, with the fork of its slot", async () => {
  const { devChain } = await openDevChain({
    forks: [
      { fork: ForkName.deneb, epoch: 0 },
      { fork: ForkName.electra, epoch: 1 },
    ],
  });
  const { jsonRpcUrl, close } = await serveApi(devChain.api);
  onTestFinished(close);
  const client = await Client.connect(jsonRpcUrl);
  await client.subscribe(["head", "head_v2"] as Topic[]);
  await advance(devChain, 9);

  const told = (await client.notifications.take(18)) as unknown as Told[];
  for (let at = 0; at < told.length; at += 2) {
    const [head, newer] = told.slice(at, at + 2) as [Told, Told];
    const { previous_duty_dependent_root, current_duty_dependent_root, ...same } = head.data;
    expect([head.topic, newer.topic]).toEqual(["head", "head_v2"]);
    expect(newer.data).toEqual({
      version: Number(head.data.slot) < 8 ? "deneb" : "electra",
      data: {
        ...same,
        payload_status: "full",
        current_epoch_dependent_root: previous_duty_dependent_root,
        next_epoch_dependent_root: current_duty_dependent_root,
      },
    });
  }
});

it("the confirmed block is published in each slot", async () => {
  const { devChain } = await openDevChain({ forks: [{ fork: ForkName.electra, epoch: 0 }] });
  const { jsonRpcUrl, close } = await serveApi(devChain.api);
  onTestFinished(close);
  const client = await Client.connect(jsonRpcUrl);
  await client.subscribe(["fast_confirmation"] as Topic[]);
  await advance(devChain, 3);
  const genesis = devChain.chain.forkChoice.finalized.root;
  const told = (await client.notifications.take(3)) as unknown as Told[];
  expect(told.map(({ topic, data }) => ({ topic, data }))).toEqual(
    ["1", "2", "3"].map((current_slot) => ({
      topic: "fast_confirmation",
      data: { block: expect.stringMatching(/^0x[0-9a-f]{64}$/), slot: expect.any(String), current_slot },
    })),
  );
  expect(told[0]!.data).toMatchObject({ block: genesis, slot: "0" });
});

it("light client updates are published", async () => {
  const { devChain } = await openDevChain({ forks: [{ fork: ForkName.altair, epoch: 0 }] });
  const topics = ["light_client_optimistic_update", "light_client_finality_update"] as Topic[];
  const listener = await listen(devChain.api, topics, ForkName.phase0);
  await advance(devChain, 33);
  const told = await listener.next((await listener.rest()) || 1);
  const attestedSlots = (topic: string) =>
    told.filter((event) => event.topic === topic).map(({ data }) => attestedSlot(data as unknown as LightClientUpdate));

  // The block of each slot includes the signatures over its parent.
  const slots = Array.from({ length: 32 }, (_, index) => index + 1);
  expect(attestedSlots("light_client_optimistic_update")).toEqual(slots);
  expect(attestedSlots("light_client_finality_update").length).toBeGreaterThan(0);
  expect(told.map(({ data }) => data.version)).toEqual(told.map(() => "altair"));
});

interface LightClientUpdate {
  data: { attested_header: { beacon: { slot: string } } };
}
const attestedSlot = ({ data }: LightClientUpdate) => Number(data.attested_header.beacon.slot);

it("a reorg is published before its new head", async () => {
  const { devChain } = await openDevChain(QUIET);
  const { chain, clock } = devChain;
  const byHand = new ByHand(devChain);
  const genesis = chain.head.root;
  await clock.advanceTo(1);
  const first = await byHand.propose(1, genesis, 1);
  const second = await byHand.propose(1, genesis, 2);
  await clock.advanceTo(2);
  const [leading, trailing] = chain.head.root === first.root ? [first, second] : [second, first];
  const listener = await listen(devChain.api, ["chain_reorg", "head"] as Topic[], ForkName.phase0);
  const stateBefore = chain.head.stateRoot;

  const overturning = await byHand.propose(2, trailing.root);

  const [reorg, head] = await listener.next(2);
  expect(reorg).toEqual({
    topic: "chain_reorg",
    data: {
      slot: "2",
      depth: "1",
      old_head_block: leading.root,
      new_head_block: overturning.root,
      old_head_state: stateBefore,
      new_head_state: chain.head.stateRoot,
      epoch: "0",
      execution_optimistic: false,
    },
  });
  expect(head).toMatchObject({ topic: "head", data: { slot: "2", block: overturning.root } });
});

it("the topics are those of all versions of the standard's documents", () => {
  for (const version of ["v2.5.0", "v4.0.0"] as const)
    expect(TOPICS).toEqual(expect.arrayContaining(topicsOf(version)));
});

it.each(variants({ fast: [ForkName.fulu], full: [ForkName.bellatrix, ForkName.capella] } as const))(
  "payload attributes of %s are published once per slot and used by the block",
  async (fork) => {
    const { devChain } = await openDevChain({ forks: [{ fork, epoch: 0 }] });
    const { chain, clock, api } = devChain;
    await clock.advanceTo(2);
    const { client } = await listen(api, ["payload_attributes"] as Topic[], ForkName.fulu);
    const recipient = `0x${"fe".repeat(20)}`;
    // Preparations of clients take precedence over in-process validators.
    const preparation = [{ validator_index: "3", fee_recipient: recipient }];
    await client.call("post_v1_validator_prepare_beacon_proposer", preparation);
    // The slots cross an epoch, and so a change of proposers, and have withdrawals after the first epoch.
    await advance(devChain, 19);
    await client.call("getNodeVersion");
    const told = await client.notifications.take(client.notifications.left);
    const events = told.map(({ data }) => data as PayloadAttributesEvent);
    expect(events.map(({ data }) => data.proposal_slot)).toEqual(Array.from({ length: 17 }, (_, n) => String(n + 4)));
    await advance(devChain, 20);
    for (const { version, data } of events) {
      const block = (await chain.blocks.canonicalAtSlot(Number(data.proposal_slot)))!;
      const { message } = chain.config
        .getForkTypes(block.slot)
        .SignedBeaconBlock.toJson(block.signed as never) as unknown as { message: BlockJson };
      const payload = message.body.execution_payload;
      expect(version).toBe(fork);
      expect(data).toEqual({
        proposer_index: message.proposer_index,
        proposal_slot: message.slot,
        parent_block_number: String(Number(payload.block_number) - 1),
        parent_block_root: message.parent_root,
        parent_block_hash: payload.parent_hash,
        payload_attributes: {
          timestamp: payload.timestamp,
          prev_randao: payload.prev_randao,
          suggested_fee_recipient: payload.fee_recipient,
          ...(fork !== ForkName.bellatrix && { withdrawals: payload.withdrawals }),
          ...(fork !== ForkName.bellatrix &&
            fork !== ForkName.capella && { parent_beacon_block_root: message.parent_root }),
        },
      });
      const expected = data.proposer_index === "3" ? recipient : `0x${"00".repeat(20)}`;
      expect(payload.fee_recipient).toBe(expected);
    }
  },
);

it("payload attributes are published before their slot even if the previous slot is empty", async () => {
  const forks = [{ fork: ForkName.deneb, epoch: 0 } as const];
  const { devChain } = await openDevChain({ forks, activeValidators: [0, 2, 4, 6, 8, 10, 12, 14] });
  const { chain, clock, api } = devChain;
  await clock.advanceTo(8);
  const { client } = await listen(api, ["payload_attributes", "block"] as Topic[], ForkName.fulu);
  await advance(devChain, 32);
  await client.call("getNodeVersion");
  const announced = new Map<string, string>();
  let afterEmptySlot = 0;
  for (const { topic, data } of await client.notifications.take(client.notifications.left)) {
    if (topic === "block") {
      const { slot, block } = data as { slot: string; block: string };
      const { parentRoot } = chain.forkChoice.get(block)!;
      // The first block arrived before the first announcement.
      if (announced.size > 0) expect(announced.get(slot), slot).toBe(parentRoot);
      if (chain.forkChoice.get(parentRoot)!.slot + 1 < Number(slot)) afterEmptySlot++;
    } else {
      const { proposal_slot, parent_block_root } = (data as PayloadAttributesEvent).data;
      announced.set(proposal_slot, parent_block_root);
    }
  }
  expect(afterEmptySlot).toBeGreaterThan(0);
});

interface PayloadAttributesEvent {
  version: string;
  data: { proposer_index: string; proposal_slot: string; parent_block_root: string };
}

interface BlockJson {
  slot: string;
  proposer_index: string;
  parent_root: string;
  body: { execution_payload: Record<string, unknown> & { fee_recipient: string } };
}

it("get_v1_events is an alias of subscribe and also rejects unknown topics", async () => {
  const { devChain } = await openDevChain(QUIET);
  const { client } = await listen(devChain.api, ["block"] as Topic[], ForkName.phase0);
  const { result } = await client.call("get_v1_events", ["head"]);
  await devChain.clock.advanceTo(1);
  await new ByHand(devChain).propose(1, devChain.chain.head.root);
  const [first, second] = await client.notifications.take(2);
  expect(first).toMatchObject({ topic: "block" });
  expect(second).toMatchObject({ topic: "head", subscription: result });
  const { error } = await client.call("get_v1_events", ["weather_forecast"]);
  expect(error).toMatchObject({ code: -32602 });
  expect(error?.message).toContain('"finalized_checkpoint"');
  const { error: mistyped } = await client.call("subscribe", ["finalised_checkpoint"]);
  expect(mistyped?.message).toMatch(/Did you mean "finalized_checkpoint"\?$/);
  expect(await client.call("subscribe", [...SILENT])).toHaveProperty("result");
  expect(await client.call("subscribe", [])).toMatchObject({ error: { code: -32602 } });
  expect(await client.call("unsubscribe", result)).toMatchObject({ result: true });
});
