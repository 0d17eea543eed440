import type { Api } from "../../api/api.ts";
import type { BeaconChain } from "../../chain/chain.ts";
import { onlyKeysOf } from "../../dev/active-keys.ts";
import { InteropKeys } from "../../dev/interop-keys.ts";
import { whileSynced } from "../../dev/validators/synced-validators.ts";
import { createDevValidators, type DevValidators } from "../../dev/validators/validators.ts";
import type { Logger } from "../../log/logger.ts";
import type { NodeSync } from "../../sync/networking.ts";
import { listedValidators, type ValidatorList } from "../flags/validator-list.ts";

export interface NodeValidatorsParts {
  chain: BeaconChain;
  api: Api;
  /** Undefined for a node that speaks to no other, and so has nobody to catch up with. */
  sync: NodeSync | undefined;
  logger: Logger;
}

/** Lets a node of a dev chain's network run the listed ones of the chain's validators. */
export function startNodeValidators(list: ValidatorList, parts: NodeValidatorsParts): Pick<DevValidators, "close"> {
  const { chain, api, sync } = parts;
  const logger = parts.logger.topic("validators");
  const keys = new InteropKeys(chain.headState.validators.length);
  const listed = listedValidators(list, keys.count, "--dev-validators");
  if (listed?.length === 0) return { close: async () => {} };

  const chosen = listed ? onlyKeysOf(keys, listed) : keys;
  const own = createDevValidators({ api, clock: chain.clock, config: chain.config, keys: chosen, logger });
  const validators = sync ? whileSynced({ validators: own, sync, isFounder: false, logger }) : own;
  chain.events.on("head", (head) => validators.onHead(head));
  chain.clock.onSlot((slot) => validators.onSlot(slot));
  logger.info("Validators run in this process", { count: chosen.indices.length });
  return validators;
}
