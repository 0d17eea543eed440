import type { SingleAttestation } from "@lodestar/types";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  aggregatedAttestation,
  committeeOf,
  signAggregate,
  singleAttestation,
} from "../../../test/support/chain/validation/attestations.ts";
import { refusalOf, summarize, TestChain } from "../../../test/support/chain/validation/validation-chain.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { AttachedValidators } from "../subscriptions/attached-validators.ts";
import { validateAggregates } from "./aggregate.ts";
import { validateAttestations } from "./attestation.ts";
import { reportConflict, validateGossipBlock } from "./block.ts";
import { DuplicateKeys } from "./duplicate-keys.ts";

let chain: TestChain;
beforeEach(() => {
  chain = new TestChain("fulu");
  chain.extend(1);
  chain.extend(2);
});
afterEach(() => chain.close());

const SLOT = 2;
const SUBNET = 4;
const submit = (vote: SingleAttestation) => validateAttestations(chain.context, [vote]);
const receive = (vote: SingleAttestation) => validateAttestations(chain.context, [vote], [SUBNET]);
const reports = () => chain.logger.records.map(({ fields }) => fields);

/** Two votes by the first committee member for different heads. */
function conflictingVotes() {
  const vote = singleAttestation(chain, 0, { slot: SLOT });
  const other = singleAttestation(chain, 0, { slot: SLOT, head: chain.genesisRoot });
  return { vote, other, validator: committeeOf(chain, SLOT, 0)[0]! };
}

describe("votes", () => {
  it("reports a conflicting vote from the network once per validator", async () => {
    const { vote, other, validator } = conflictingVotes();
    chain.attached.register(validator, 0);
    await submit(vote);
    expect(summarize(await receive(other))).toEqual(["ignore conflicting-vote"]);
    await receive(other);
    expect(reports()).toMatchObject([{ validator, seen: "attestation", slot: SLOT }]);
    expect(chain.logger.records[0]!.message).toMatch(/^Validator key is also used elsewhere/);
    expect(chain.context.duplicates.counts).toEqual({ attestation: 2, block: 0 });
  });

  it("reports the client's vote if the network had a different one first, also of an unknown client", async () => {
    const { vote, other, validator } = conflictingVotes();
    await receive(other);
    expect(reports()).toEqual([]);
    expect(summarize(await submit(vote))).toEqual(["ignore conflicting-vote"]);
    expect(reports()).toMatchObject([{ validator }]);
  });

  it("ignores identical votes: clients may use several nodes, and gossip echoes", async () => {
    const { vote, validator } = conflictingVotes();
    chain.attached.register(validator, 0);
    await receive(vote);
    await submit(vote);
    await receive(vote);
    expect(reports()).toEqual([]);
  });

  it("rejects a forged conflict without a report", async () => {
    const { vote, other, validator } = conflictingVotes();
    chain.attached.register(validator, 0);
    await submit(vote);
    const { signature } = vote;
    expect(summarize(await receive({ ...other, signature }))).toEqual(["reject bad-signature"]);
    expect(reports()).toEqual([]);
  });

  it("ignores conflicts of other validators", async () => {
    const { vote, other } = conflictingVotes();
    await receive(vote);
    expect(summarize(await receive(other))).toEqual(["ignore conflicting-vote"]);
    expect(reports()).toEqual([]);
  });

  it("reports the first foreign vote of an in-process key, but not from before a restart", async () => {
    const { vote, validator } = conflictingVotes();
    const next = committeeOf(chain, 3, 0)[0]!;
    chain.attached.setOwn([validator, next]);
    await receive(vote);
    expect(reports()).toEqual([]);
    chain.extend(3);
    await validateAttestations(chain.context, [singleAttestation(chain, 0, { slot: 3 })], [6]);
    expect(reports()).toMatchObject([{ validator: next, slot: 3, conflictsWith: undefined }]);
  });

  it("checks aggregates from the network, not from clients", async () => {
    const { vote, validator } = conflictingVotes();
    chain.attached.register(validator, 0);
    await submit(vote);
    const aggregate = aggregatedAttestation(chain, [0, 1], { slot: SLOT, head: chain.genesisRoot });
    const same = aggregatedAttestation(chain, [0, 1, 2], { slot: SLOT });
    const signed = (by: number, of: typeof aggregate) => signAggregate(chain, of, committeeOf(chain, SLOT, 0)[by]!);
    expect(summarize(await validateAggregates(chain.context, [signed(1, same)], "gossip"))).toEqual(["ok"]);
    expect(reports()).toEqual([]);
    expect(summarize(await validateAggregates(chain.context, [signed(2, aggregate)], "gossip"))).toEqual(["ok"]);
    expect(reports()).toMatchObject([{ validator, seen: "attestation" }]);
  });
});

describe("blocks", () => {
  const blocks = () => {
    chain.clock.set(3);
    const first = chain.produce(3);
    const second = chain.produce(3, { change: (block) => block.body.graffiti.fill(1) });
    return { first, second, proposer: first.signed.message.proposerIndex };
  };

  it("reports a second block of an attached validator; rejects a forged one", async () => {
    const { first, second, proposer } = blocks();
    chain.attached.register(proposer, 0);
    await validateGossipBlock(chain.context, first.signed);
    const forged = { ...second.signed, signature: first.signed.signature };
    expect(await refusalOf(validateGossipBlock(chain.context, forged))).toMatchObject({ reason: "bad-signature" });
    expect(reports()).toEqual([]);
    expect(await refusalOf(validateGossipBlock(chain.context, second.signed))).toMatchObject({
      action: "ignore",
      reason: "conflicting-block",
    });
    expect(reports()).toEqual([
      { validator: proposer, seen: "block", slot: 3, root: second.root, conflictsWith: first.root },
    ]);
  });

  it("reports a foreign block of an in-process key, but not one returned by a builder", async () => {
    const { first, proposer } = blocks();
    chain.clock.set(2);
    chain.attached.setOwn([proposer]);
    chain.clock.set(3);
    chain.context.seen.blockProposers.expect(3, proposer, first.root);
    await validateGossipBlock(chain.context, first.signed);
    expect(reports()).toEqual([]);

    chain.clock.set(4);
    const other = chain.produce(4);
    const next = other.signed.message.proposerIndex;
    chain.clock.set(3);
    chain.attached.setOwn([next]);
    chain.clock.set(4);
    await validateGossipBlock(chain.context, other.signed);
    expect(reports()).toMatchObject([{ validator: next, seen: "block", slot: 4 }]);
  });

  it("compares a submitted block with one imported without gossip", async () => {
    const { first, second, proposer } = blocks();
    chain.attached.register(proposer, 0);
    await reportConflict(chain.context, first.signed, first.root);
    expect(reports()).toEqual([]);
    await reportConflict(chain.context, second.signed, first.root);
    expect(reports()).toMatchObject([{ validator: proposer, conflictsWith: first.root }]);
  });
});

it("limits log lines per epoch, one per validator", () => {
  const clock = { currentSlot: 0, currentEpoch: 0 };
  const logger = createRecordingLogger();
  const duplicates = new DuplicateKeys({ attached: new AttachedValidators(clock), clock, logger });
  const conflicts = () => {
    for (let validator = 0; validator < 12; validator++) {
      duplicates.conflict({ validator, kind: "attestation", slot: 1, root: "0x02" }, "0x01");
    }
  };
  conflicts();
  conflicts();
  expect(logger.records).toHaveLength(8);
  clock.currentEpoch = 1;
  conflicts();
  conflicts();
  expect(logger.records.map(({ fields }) => fields!.validator)).toEqual(Array.from({ length: 12 }, (_, i) => i));
});
