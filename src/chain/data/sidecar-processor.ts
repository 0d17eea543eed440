import type { BeaconConfig } from "@lodestar/config";
import { toRootHex } from "@lodestar/utils";
import { isBlobOfItsHeader } from "../../data/blob-sidecars.ts";
import { cellsOfColumns, faultOfColumn, isColumnOfItsHeader } from "../../data/column-sidecars.ts";
import { blockRootOfSidecar, type DataSidecar, isColumn, slotOfSidecar, subnetOfSidecar } from "../../data/sidecar.ts";
import type { ChainEvents } from "../events.ts";
import type { ForkChoice } from "../fork-choice/fork-choice.ts";
import { alreadyKnown, ignore, reject } from "../validation/outcome.ts";
import type { DataAvailability } from "./data-availability.ts";

interface SidecarProcessorParts {
  config: BeaconConfig;
  forkChoice: Pick<ForkChoice, "has">;
  data: DataAvailability;
  events: ChainEvents;
}

/** Takes sidecars from gossip: rules, pool, event. */
export class SidecarProcessor {
  readonly #parts: SidecarProcessorParts;

  constructor(parts: SidecarProcessorParts) {
    this.#parts = parts;
  }

  /** @throws GossipRefusal */
  async process(sidecar: DataSidecar, subnet: number): Promise<void> {
    const { config, forkChoice, data, events } = this.#parts;
    const root = blockRootOfSidecar(sidecar);
    const slot = slotOfSidecar(sidecar);
    if (data.pool.has(root, sidecar.index)) throw alreadyKnown("The sidecar was seen before.");
    if (subnetOfSidecar(config, sidecar) !== subnet) {
      throw reject("wrong-subnet", "The sidecar belongs to another subnet.");
    }
    if (!forkChoice.has(toRootHex(sidecar.signedBlockHeader.message.parentRoot))) {
      throw ignore("unknown-parent", "The parent of the sidecar's block is not known.");
    }
    if (!(await this.#isRight(sidecar))) throw reject("invalid-block", "The sidecar does not fit its header.");
    data.pool.add({ slot, root }, [sidecar]);
    if (isColumn(sidecar)) events.publish("columnSidecar", { root, slot, sidecar });
    else events.publish("blobSidecar", { root, slot, sidecar });
  }

  async #isRight(sidecar: DataSidecar): Promise<boolean> {
    const { config, data } = this.#parts;
    if (isColumn(sidecar)) {
      if (faultOfColumn(config, sidecar) !== undefined || !isColumnOfItsHeader(sidecar)) return false;
      return data.kzg.verifyCells(cellsOfColumns([sidecar]));
    }
    const { blob, kzgCommitment, kzgProof } = sidecar;
    if (!isBlobOfItsHeader(sidecar)) return false;
    return data.kzg.verifyBlobs({ blobs: [blob], commitments: [kzgCommitment], proofs: [kzgProof] });
  }
}
