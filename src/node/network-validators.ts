import type { Slot, ValidatorIndex } from "@lodestar/types";
import type { KeySource } from "../dev/genesis-parameters.ts";
import { openKeys } from "../dev/open-keys.ts";
import { onlyKeysOf } from "../dev/validator-keys.ts";
import { DEV_FEE_RECIPIENT } from "../dev/validators/fee-recipient.ts";
import { SlashingProtection, slashingProtectionStore } from "../dev/validators/slashing-protection.ts";
import { isLongPast, whileSynced } from "../dev/validators/synced-validators.ts";
import { createDevValidators, type DevValidators } from "../dev/validators/validators.ts";
import type { Logger } from "../log/logger.ts";
import type { BeaconNode } from "./beacon-node.ts";

/** Selects the indices to run out of `count` validators. Undefined selects all. */
export type SelectValidators = (count: number) => readonly ValidatorIndex[] | undefined;

/** Starts in-process validators of a dev chain network. */
export async function startValidators(
  select: SelectValidators,
  keySource: KeySource | undefined,
  { chain, api, db }: BeaconNode,
  rootLogger: Logger,
): Promise<Pick<DevValidators, "close">> {
  const logger = rootLogger.topic("validators");
  const all = openKeys(keySource, chain.headState.validators.length);
  const selected = select(all.count);
  const keys = selected ? onlyKeysOf(all, selected) : all;
  const history = await SlashingProtection.open(slashingProtectionStore(db));
  const { clock, config } = chain;
  const hasBuilder = () => chain.builder !== undefined;
  const isPast = (slot: Slot) => isLongPast(clock, slot);
  const own = createDevValidators({ api, clock, config, keys, logger, history, hasBuilder, isPast });
  chain.preparations.prepareOwn(keys.indices, DEV_FEE_RECIPIENT);
  const validators = whileSynced({ validators: own, status: chain.status, logger });
  chain.events.on("head", (head) => validators.onHead(head));
  clock.onSlot((slot) => validators.onSlot(slot));
  logger.info("Started in-process validators", { count: keys.indices.length });
  return validators;
}
