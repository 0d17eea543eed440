import { ForkSeq, SLOTS_PER_EPOCH, TIMELY_TARGET_FLAG_INDEX } from "@lodestar/params";
import type { CachedBeaconStateGloas } from "@lodestar/state-transition";
import type { electra, ValidatorIndex } from "@lodestar/types";
import { expect, it } from "vitest";
import { currentParticipationRate, participationRate } from "../../src/chain/states/participation-rate.ts";
import { Caller } from "../support/api/caller.ts";
import { GloasChain } from "../support/chain/gloas-chain.ts";

const VALIDATORS = 16;
const OFFLINE: readonly ValidatorIndex[] = [3, 4, 11];
const online = new Set(Array.from({ length: VALIDATORS }, (_, index) => index).filter((i) => !OFFLINE.includes(i)));

/** Share of the stake with a timely target vote in the flags of a state, in which all balances are equal. */
function rateIn(participation: CachedBeaconStateGloas["currentEpochParticipation"]): number {
  const voted = participation.getAll().filter((flags) => ((flags >> TIMELY_TARGET_FLAG_INDEX) & 1) === 1);
  return voted.length / VALIDATORS;
}

it("participation and liveness are exact across the fork to gloas and with withheld payloads", async () => {
  const gloas = await GloasChain.open({ validators: VALIDATORS, forks: [{ fork: "gloas", epoch: 2 }] });
  const { chain } = gloas;
  const caller = new Caller(gloas.opened.devChain.api);
  const live = new Map<number, Set<ValidatorIndex>>();
  const saw = (epoch: number, validators: Iterable<ValidatorIndex>) => {
    live.set(epoch, new Set([...(live.get(epoch) ?? []), ...validators]));
  };
  for (let slot = 1; slot <= 5 * SLOTS_PER_EPOCH; slot++) {
    await gloas.run(1, { online, payload: slot % 5 === 0 ? "withhold" : "full" });
    const state = chain.headState as CachedBeaconStateGloas;
    if (chain.head.slot !== slot) continue;
    const { message } = (await chain.blocks.signedByRoot(chain.head.root))!;
    saw(Math.floor(slot / SLOTS_PER_EPOCH), [message.proposerIndex]);
    for (const attestation of message.body.attestations as electra.Attestation[]) {
      const { epoch } = attestation.data.target;
      saw(epoch, state.epochCtx.getAttestingIndices(ForkSeq.gloas, attestation));
    }
    expect(currentParticipationRate(state), `slot ${slot}`).toBe(rateIn(state.currentEpochParticipation));
    if (slot < SLOTS_PER_EPOCH) continue;
    expect(participationRate(state), `slot ${slot}`).toBe(rateIn(state.previousEpochParticipation));
  }
  expect(participationRate(chain.headState)).toBe((VALIDATORS - OFFLINE.length) / VALIDATORS);
  const indices = Array.from({ length: VALIDATORS }, (_, index) => String(index));
  for (const epoch of [4, 5]) {
    const answer = await caller.call("post_v1_validator_liveness_epoch", [String(epoch), indices]);
    const isLive = answer.filter(({ is_live }: { is_live: boolean }) => is_live);
    // Members of the slot's committees have voted, but their votes are not on chain yet.
    const { committees } = chain.headState.epochCtx.getShufflingAtSlot(chain.head.slot);
    const justVoted = epoch === 5 ? committees[0]!.flatMap((committee) => [...committee]) : [];
    const expected = new Set([...(live.get(epoch) ?? []), ...justVoted.filter((index) => online.has(index))]);
    expect(new Set(isLive.map(({ index }: { index: string }) => Number(index)))).toEqual(expected);
  }
});
