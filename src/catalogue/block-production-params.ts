import { optional, required } from "./entry.ts";
import { boolean } from "./params/boolean.ts";
import { signature } from "./params/bytes.ts";
import { graffiti } from "./params/graffiti.ts";
import { slot } from "./params/integers.ts";

/** What a client says about the block that it wants to be made. */
export const BLOCK_PRODUCTION_PARAMS = {
  slot: required(
    slot,
    "The slot of the block, after the head's: the current one, or at most two epochs past the head.",
  ),
  randao_reveal: required(signature, "The proposer's signature over the epoch."),
  graffiti: optional(graffiti, "At most 32 bytes of text or hex; by default what setGraffiti has set."),
  skip_randao_verification: optional(boolean, "Takes the point at infinity in place of a reveal."),
};
