import { toHex } from "@lodestar/utils";
import { TimeSlice } from "../../../async/time-slice.ts";
import { invalidParams, notFound } from "../../../errors/failure.ts";
import { defineMethod, optional } from "../../definition.ts";
import { controlOf } from "../../dev-control.ts";
import { uint64 } from "../../params/scalars.ts";
import { described, list, object, shape } from "../../schemas.ts";
import { DEV_METHOD } from "./dev-method.ts";

const KEY = object({
  index: shape("Uint64"),
  pubkey: shape("Pubkey"),
  secret_key: described(shape("Root"), "Signing key of the validator."),
  withdrawal_credentials: described(shape("Root"), "In the head state."),
});

const devKeys = defineMethod({
  ...DEV_METHOD,
  name: "dev_keys",
  summary:
    "Public and secret keys and withdrawal credentials of the genesis validators and of those added by dev_deposit, " +
    "optionally only of an index range.",
  params: {
    first: optional(uint64, "First validator index. Default: 0."),
    last: optional(uint64, "Last validator index. Default: the last validator with a known key."),
  },
  result: { name: "keys", schema: list(KEY) },
  failures: ["not-found"],
  example: { params: [0, 1] },
  async handler(context, { first = 0, last }) {
    const { keys } = controlOf(context);
    const newest = keys.indices.at(-1)!;
    const end = last ?? newest;
    const beyond = [first, end].find((index) => index > newest);
    if (beyond !== undefined) {
      throw notFound(`No key for validator ${beyond}. Keys are known for validators 0 to ${newest}.`);
    }
    if (first > end)
      throw invalidParams(`first must not be greater than last, but first is ${first} and last is ${end}.`);
    const { validators } = context.chain.headState;
    const slice = new TimeSlice();
    const result = [];
    for (const index of keys.indices) {
      if (index < first || index > end) continue;
      const { pubkey, withdrawalCredentials } = validators.getReadonly(index);
      result.push({
        index: String(index),
        pubkey: toHex(pubkey),
        secret_key: keys.secretKey(index)!.toHex(),
        withdrawal_credentials: toHex(withdrawalCredentials),
      });
      await slice.yieldIfDue();
    }
    return result;
  },
});

export const devKeysMethods = [devKeys] as const;
