import type { BeaconBlock, BlindedBeaconBlock, gloas } from "@lodestar/types";

/** Returns the bid that a block since gloas commits to; undefined before. */
export function bidOf({
  body,
}: {
  body: BeaconBlock["body"] | BlindedBeaconBlock["body"];
}): gloas.ExecutionPayloadBid | undefined {
  return (body as Partial<gloas.BeaconBlockBody>).signedExecutionPayloadBid?.message;
}
