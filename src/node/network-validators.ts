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

/** Says which of so many validators a node runs; undefined for all of them. */
export type ChosenValidators = (count: number) => readonly ValidatorIndex[] | undefined;

/** Lets a node of a dev chain's network run some of the chain's validators. */
export async function startValidators(
  choose: ChosenValidators,
  keySource: KeySource | undefined,
  { chain, api, db }: BeaconNode,
  rootLogger: Logger,
): Promise<Pick<DevValidators, "close">> {
  const logger = rootLogger.topic("validators");
  const all = openKeys(keySource, chain.headState.validators.length);
  const chosen = choose(all.count);
  const keys = chosen ? onlyKeysOf(all, chosen) : all;
  const history = await SlashingProtection.open(slashingProtectionStore(db));
  const { clock, config } = chain;
  const hasBuilder = () => chain.builder !== undefined;
  const isPast = (slot: Slot) => isLongPast(clock, slot);
  const own = createDevValidators({ api, clock, config, keys, logger, history, hasBuilder, isPast });
  chain.preparations.prepareOwn(keys.indices, DEV_FEE_RECIPIENT);
  const validators = whileSynced({ validators: own, status: chain.status, logger });
  chain.events.on("head", (head) => validators.onHead(head));
  clock.onSlot((slot) => validators.onSlot(slot));
  logger.info("Validators run in this process", { count: keys.indices.length });
  return validators;
}
