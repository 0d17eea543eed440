import type { BeaconBlock, gloas } from "@lodestar/types";

/** Returns the bid that a block since gloas commits to; undefined before. */
export function bidOf({ body }: Pick<BeaconBlock, "body">): gloas.ExecutionPayloadBid | undefined {
  return (body as Partial<gloas.BeaconBlockBody>).signedExecutionPayloadBid?.message;
}
