import { routes } from "@lodestar/api";
import { DOMAIN_BEACON_PROPOSER, DOMAIN_RANDAO, ForkName, SLOTS_PER_EPOCH } from "@lodestar/params";
import { type BlockContents, type Slot, ssz } from "@lodestar/types";
import type { ValidatorKey } from "../json-rpc-validator/keys.ts";
import type { Connection } from "./client-connection.ts";
import { sign } from "./client-signing.ts";

export const GRAFFITI = "through @lodestar/api";

/** Requests, signs and publishes a block. */
export async function propose({ config, clientAt }: Connection, slot: Slot, proposer: ValidatorKey): Promise<void> {
  const { validator, beacon } = clientAt(slot);
  const epoch = Math.floor(slot / SLOTS_PER_EPOCH);
  const randaoReveal = sign(config, proposer, DOMAIN_RANDAO, slot, ssz.Epoch, epoch);
  const produced = await validator.produceBlockV3({ slot, randaoReveal, graffiti: GRAFFITI });
  const { version, executionPayloadBlinded } = produced.meta();
  if (version !== ForkName.fulu || executionPayloadBlinded) {
    throw new Error(`The block of slot ${slot} is not a full block of fulu: ${JSON.stringify(produced.meta())}`);
  }
  const { block, ...blobs } = produced.value() as BlockContents<ForkName.fulu>;
  const signature = sign(config, proposer, DOMAIN_BEACON_PROPOSER, slot, ssz.fulu.BeaconBlock, block);
  const published = await beacon.publishBlockV2({
    signedBlockContents: { signedBlock: { message: block, signature }, ...blobs },
    broadcastValidation: routes.beacon.BroadcastValidation.consensusAndEquivocation,
  });
  published.assertOk();
  // Any other success status means broadcast without import.
  if (published.status !== 200) throw new Error(`The block of slot ${slot} was answered with ${published.status}.`);
}
