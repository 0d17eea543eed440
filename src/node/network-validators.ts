import type { Slot, ValidatorIndex } from "@lodestar/types";
import { DEV_FEE_RECIPIENT } from "../dev/constants.ts";
import { createKeys } from "../dev/create-keys.ts";
import type { KeySource } from "../dev/genesis-parameters.ts";
import { selectKeys } from "../dev/validator-keys.ts";
import { SlashingProtection, slashingProtectionStore } from "../dev/validators/slashing-protection.ts";
import { gateOnSync, isExpired } from "../dev/validators/sync-gate.ts";
import { createDevValidators, type DevValidators } from "../dev/validators/validators.ts";
import type { Logger } from "../log/logger.ts";
import type { BeaconNode } from "./beacon-node.ts";

/** Selects which of `count` validators to run. Undefined selects all. */
export type SelectValidators = (count: number) => readonly ValidatorIndex[] | undefined;

/** Starts in-process validators of a dev chain network. */
export async function startValidators(
  select: SelectValidators,
  keySource: KeySource | undefined,
  { chain, api, db }: BeaconNode,
  rootLogger: Logger,
): Promise<Pick<DevValidators, "close">> {
  const logger = rootLogger.topic("validators");
  const all = createKeys(keySource, chain.headState.validators.length);
  const selected = select(all.count);
  const keys = selected ? selectKeys(all, selected) : all;
  const history = await SlashingProtection.open(slashingProtectionStore(db));
  const { clock, config } = chain;
  const hasBuilder = () => chain.builder !== undefined;
  const isPast = (slot: Slot) => isExpired(clock, slot);
  const ungated = createDevValidators({ api, clock, config, keys, logger, history, hasBuilder, isPast });
  chain.preparations.prepareOwn(keys.indices, DEV_FEE_RECIPIENT);
  const validators = gateOnSync({ validators: ungated, status: chain.status, logger });
  chain.events.on("head", (head) => validators.onHead(head));
  clock.onSlot((slot) => validators.onSlot(slot));
  logger.info("Started in-process validators", { count: keys.indices.length });
  return validators;
}
