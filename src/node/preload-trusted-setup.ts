import type { BeaconConfig } from "@lodestar/config";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import type { Clock } from "../chain/clock/clock.ts";
import type { Kzg } from "../data/kzg/kzg.ts";

const EPOCHS_BEFORE_DENEB = 2;

interface PreloadParts {
  config: Pick<BeaconConfig, "DENEB_FORK_EPOCH">;
  clock: Pick<Clock, "currentSlot" | "untilSlot">;
  data: { kzg: Pick<Kzg, "prepare"> };
}

/**
 * Loads the KZG trusted setup two epochs before deneb. Loading takes seconds, during which waiting columns may expire.
 * If no peer stores half of the columns, their block is lost.
 */
export function preloadTrustedSetup({ config, clock, data }: PreloadParts): { close(): void } {
  const closing = new AbortController();
  const slot = Math.max(0, config.DENEB_FORK_EPOCH - EPOCHS_BEFORE_DENEB) * SLOTS_PER_EPOCH;
  if (clock.currentSlot >= slot) data.kzg.prepare();
  else if (Number.isFinite(slot)) {
    // Rejects when the clock stops or the node closes.
    clock.untilSlot(slot, closing.signal).then(
      () => data.kzg.prepare(),
      () => {},
    );
  }
  return { close: () => closing.abort() };
}
