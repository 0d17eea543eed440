import { toHex } from "@lodestar/utils";
import { invalidParams, notFound } from "../../failure.ts";
import { TimeSlice } from "../../time-slice.ts";
import { defineMethod, optional } from "../definition.ts";
import { controlOf } from "../dev-control.ts";
import { uint64 } from "../params/scalars.ts";
import { described, list, object, shape } from "../schemas.ts";

const KEY = object({
  index: shape("Uint64"),
  pubkey: shape("Pubkey"),
  secret_key: described(shape("Root"), "What the validator signs with."),
  withdrawal_credentials: described(shape("Root"), "Of the head's state."),
});

const devKeys = defineMethod({
  name: "dev_keys",
  summary:
    "The keys of the validators that the chain began with, the secret ones too, and where their withdrawals go: of all, or from one index to another.",
  params: {
    first: optional(uint64, "The index of the first validator; by default 0."),
    last: optional(uint64, "The index of the last validator; by default that of the last that the chain began with."),
  },
  result: { name: "keys", schema: list(KEY) },
  failures: ["not-found"],
  cost: "cheap",
  access: "dev",
  example: { params: [0, 1] },
  async handler(context, { first = 0, last }) {
    const { keys } = controlOf(context);
    const end = last ?? keys.count - 1;
    const beyond = [first, end].find((index) => index >= keys.count);
    if (beyond !== undefined) {
      throw notFound(`There is no key of validator ${beyond}: those that are known are of 0 to ${keys.count - 1}.`);
    }
    if (first > end) throw invalidParams(`first is ${first} and last is ${end}: the first cannot come after the last.`);
    const { validators } = context.chain.headState;
    const slice = new TimeSlice();
    const found = [];
    for (let index = first; index <= end; index++) {
      const { pubkey, withdrawalCredentials } = validators.getReadonly(index);
      found.push({
        index: String(index),
        pubkey: toHex(pubkey),
        secret_key: keys.secretKey(index)!.toHex(),
        withdrawal_credentials: toHex(withdrawalCredentials),
      });
      await slice.breathe();
    }
    return found;
  },
});

export const devKeysMethods = [devKeys] as const;
