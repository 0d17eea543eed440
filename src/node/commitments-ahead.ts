import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Clock } from "../chain/clock/clock.ts";
import type { Kzg } from "../data/kzg/kzg.ts";

/** How long before deneb a node begins to be ready for blobs. */
const EPOCHS_AHEAD = 2;

interface ReadinessParts {
  config: Pick<BeaconConfig, "DENEB_FORK_EPOCH">;
  clock: Pick<Clock, "currentSlot" | "untilSlot">;
  data: { kzg: Pick<Kzg, "prepare"> };
}

/**
 * Has a node that hears others be ready to verify blobs before the first come: the trusted setup takes seconds to be read, and columns that
 * wait for it may be too old by then. Where nobody keeps half of the columns, the block that they belong to is lost for good.
 */
export function readyForBlobs({ config, clock, data }: ReadinessParts): { close(): void } {
  const closing = new AbortController();
  const slot = Math.max(0, config.DENEB_FORK_EPOCH - EPOCHS_AHEAD) * SLOTS_PER_EPOCH;
  if (clock.currentSlot >= slot) data.kzg.prepare();
  else if (Number.isFinite(slot)) {
    // It rejects when the clock stops or the node is closed.
    clock.untilSlot(slot, closing.signal).then(
      () => data.kzg.prepare(),
      () => {},
    );
  }
  return { close: () => closing.abort() };
}
