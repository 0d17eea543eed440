import { createBeaconConfig } from "@lodestar/config";
import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { GossipValidationError, type Outcome } from "../../chain/validation/outcome.ts";
import { devChainConfig } from "../../dev/chain-config.ts";
import type { Verdict } from "./message-types.ts";
import { OperationHandler, type OperationHandlerParts } from "./operation-handler.ts";
import { GossipTopics } from "./topics.ts";

const config = createBeaconConfig(devChainConfig({ forks: [], slotSeconds: 6, genesisTime: 0 }), new Uint8Array(32));
const topic = new GossipTopics(config).at(0, "beacon_attestation", 1)!;
const attestation = ssz.phase0.Attestation.defaultValue();
const root = toRootHex(attestation.data.beaconBlockRoot);

it("an attestation whose block arrives during validation is validated again", async () => {
  const blocks = new Set<string>();
  const requested: string[] = [];
  const attestations = async (): Promise<Outcome<object>[]> => {
    if (blocks.has(root)) return [{ ok: true, value: {} }];
    blocks.add(root);
    return [{ ok: false, refusal: new GossipValidationError("ignore", "unknown-block", "The block is not known.") }];
  };
  const chain = {
    processor: { attestations },
    clock: { currentSlot: 1, onSlot: () => () => {} },
    events: { on: () => () => {} },
    forkChoice: blocks,
    isImporting: () => false,
  };
  const gossip = new OperationHandler({
    chain: chain as unknown as OperationHandlerParts["chain"],
    unknownBlocks: { onUnknownBlock: (unknown) => requested.push(unknown), onUnknownPayload: () => {} },
    logger: createRecordingLogger(),
  });
  gossip.start();
  const verdict = await new Promise<Verdict>((report) =>
    gossip.handle({ topic, object: attestation, bytes: 229, peerId: "p", report }),
  );
  expect(verdict).toBe("accept");
  expect(requested).toEqual([]);
  await gossip.close();
});
