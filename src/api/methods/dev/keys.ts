import { toHex } from "@lodestar/utils";
import { TimeSlice } from "../../../async/time-slice.ts";
import { invalidParams, notFound } from "../../../errors/failure.ts";
import { defineMethod, optional } from "../../definition.ts";
import { controlOf } from "../../dev-control.ts";
import { uint64 } from "../../params/scalars.ts";
import { described, list, object, shape } from "../../schemas.ts";

const KEY = object({
  index: shape("Uint64"),
  pubkey: shape("Pubkey"),
  secret_key: described(shape("Root"), "What the validator signs with."),
  withdrawal_credentials: described(shape("Root"), "Of the head's state."),
});

const devKeys = defineMethod({
  name: "dev_keys",
  summary:
    "The keys of the chain's validators, the secret ones too, and where their withdrawals go: of all that it began with or that entered " +
    "by dev_deposit, or from one index to another.",
  params: {
    first: optional(uint64, "The index of the first validator; by default 0."),
    last: optional(uint64, "The index of the last validator; by default that of the last."),
  },
  result: { name: "keys", schema: list(KEY) },
  failures: ["not-found"],
  cost: "cheap",
  access: "dev",
  example: { params: [0, 1] },
  async handler(context, { first = 0, last }) {
    const { keys } = controlOf(context);
    const newest = keys.indices.at(-1)!;
    const end = last ?? newest;
    const beyond = [first, end].find((index) => index > newest);
    if (beyond !== undefined) {
      throw notFound(`There is no key of validator ${beyond}: those that are known are of 0 to ${newest}.`);
    }
    if (first > end) throw invalidParams(`first is ${first} and last is ${end}: the first cannot come after the last.`);
    const { validators } = context.chain.headState;
    const slice = new TimeSlice();
    const found = [];
    for (const index of keys.indices) {
      if (index < first || index > end) continue;
      const { pubkey, withdrawalCredentials } = validators.getReadonly(index);
      found.push({
        index: String(index),
        pubkey: toHex(pubkey),
        secret_key: keys.secretKey(index)!.toHex(),
        withdrawal_credentials: toHex(withdrawalCredentials),
      });
      await slice.yieldIfDue();
    }
    return found;
  },
});

export const devKeysMethods = [devKeys] as const;
