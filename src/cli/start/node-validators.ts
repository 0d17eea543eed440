import type { Api } from "../../api/api.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import type { BeaconDb } from "../../db/beacon-db.ts";
import { onlyKeysOf } from "../../dev/active-keys.ts";
import { InteropKeys } from "../../dev/interop-keys.ts";
import { SlashingProtection, slashingProtectionStore } from "../../dev/validators/slashing-protection.ts";
import { whileSynced } from "../../dev/validators/synced-validators.ts";
import { createDevValidators, type DevValidators } from "../../dev/validators/validators.ts";
import type { Logger } from "../../log/logger.ts";
import type { NodeSync } from "../../sync/networking.ts";
import { listedValidators, type ValidatorList } from "../flags/validator-list.ts";

export interface NodeValidatorsParts {
  chain: BeaconChain;
  api: Api;
  db: BeaconDb;
  /** Undefined for a node that speaks to no other, and so has nobody to catch up with. */
  sync: NodeSync | undefined;
  logger: Logger;
}

/** Lets a node of a dev chain's network run the listed ones of the chain's validators. */
export async function startNodeValidators(
  list: ValidatorList,
  parts: NodeValidatorsParts,
): Promise<Pick<DevValidators, "close">> {
  const { chain, api, db, sync } = parts;
  const logger = parts.logger.topic("validators");
  const keys = new InteropKeys(chain.headState.validators.length);
  const listed = listedValidators(list, keys.count, "--dev-validators");
  if (listed?.length === 0) return { close: async () => {} };

  const chosen = listed ? onlyKeysOf(keys, listed) : keys;
  const history = await SlashingProtection.open(slashingProtectionStore(db));
  const { clock, config } = chain;
  const own = createDevValidators({ api, clock, config, keys: chosen, logger, history });
  const validators = sync ? whileSynced({ validators: own, sync, isFounder: false, logger }) : own;
  chain.events.on("head", (head) => validators.onHead(head));
  clock.onSlot((slot) => validators.onSlot(slot));
  logger.info("Validators run in this process", { count: chosen.indices.length });
  return validators;
}
