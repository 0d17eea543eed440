import type { gloas } from "@lodestar/types";
import { lazilySigned } from "../blocks/lazily-signed.ts";
import type { Clock } from "../clock/clock.ts";
import type { DataAvailability } from "../data/data-availability.ts";
import type { SidecarProcessor } from "../data/sidecar-processor.ts";
import type { ChainEvents } from "../events.ts";
import type { EnvelopeArrival, ImportedPayload, PayloadQueue } from "../payloads/payload-queue.ts";
import type { GivenSignature } from "../pools/pooled-signature.ts";
import type { Pools } from "../pools/pools.ts";
import type { ProducedFullBlock } from "../production/block-producer.ts";
import type { ImportedBlock } from "./block-importer.ts";
import type { ImportQueue } from "./import-queue.ts";
import type { ExtraWrites } from "./segment.ts";

interface OwnImportsParts {
  clock: Pick<Clock, "nowSeconds">;
  pools: Pick<Pools, "seen">;
  events: ChainEvents;
  data: Pick<DataAvailability, "sidecarsOf">;
  sidecars: Pick<SidecarProcessor, "add">;
  importQueue: Pick<ImportQueue, "importOwn">;
  payloadQueue: Pick<PayloadQueue, "importOwn">;
}

/** Imports blocks and payloads that this node produced and its validators signed, without verifying them again. */
export class OwnImports {
  readonly #parts: OwnImportsParts;

  constructor(parts: OwnImportsParts) {
    this.#parts = parts;
  }

  async importBlock(
    produced: ProducedFullBlock,
    signature: GivenSignature,
    extraWrites: ExtraWrites,
  ): Promise<ImportedBlock> {
    const { clock, pools, events, data, sidecars: processor, importQueue } = this.#parts;
    const { block: message, root, postState, blobsBundle } = produced;
    const { slot, proposerIndex } = message;
    const signed = signature instanceof Uint8Array ? { message, signature } : lazilySigned(message, signature);
    const arrivedAt = clock.nowSeconds();
    pools.seen.blockProposers.add(slot, proposerIndex, root);
    events.publish("blockGossip", { slot, root, signed });
    const sidecars = blobsBundle ? await data.sidecarsOf(signed, blobsBundle) : [];
    processor.add(sidecars);
    const imported = await importQueue.importOwn({ signed, root, arrivedAt, extraWrites }, postState);
    // Published once the slashing protection is stored, and the data after the block that it belongs to.
    events.publish("blockCreated", { signed });
    if (sidecars.length > 0) events.publish("sidecarsCreated", { sidecars });
    return imported;
  }

  async importPayload(
    envelope: gloas.SignedExecutionPayloadEnvelope,
    arrival?: Pick<EnvelopeArrival, "arrivedAt">,
  ): Promise<ImportedPayload> {
    const { pools, events, payloadQueue } = this.#parts;
    pools.seen.payloads.addEnvelope(envelope.message);
    const imported = await payloadQueue.importOwn(envelope, arrival);
    events.publish("payloadCreated", { signed: envelope });
    return imported;
  }
}
