import type { Hex } from "./chain-types.ts";
import type { EthParamNames } from "./eth-param-names.ts";
import type { Methods } from "./methods.ts";

type ByName<Method extends keyof EthParamNames> = NonNullable<Parameters<Methods[Method]>[0]>;

/** Parameters in order. Null omits an optional parameter. */
type ByPosition<Params, Names extends readonly string[]> = Names extends readonly [
  infer Name extends keyof Params,
  ...infer Rest extends readonly string[],
]
  ? Record<never, never> extends Pick<Params, Name>
    ? readonly [(Params[Name] | null)?, ...ByPosition<Params, Rest>]
    : readonly [Params[Name], ...ByPosition<Params, Rest>]
  : readonly [];

/** Subscription methods, whose events are emitted by the provider. */
interface SubscriptionSchema {
  readonly eth_subscribe: {
    readonly params: readonly [kind: "newHeads" | "logs" | "newPendingTransactions", options?: object | boolean];
    readonly result: Hex;
  };
  readonly eth_unsubscribe: { readonly params: readonly [subscription: string]; readonly result: boolean };
}

/** Parameters and results of execution layer methods (EIP-1193). */
export type EthSchema = SubscriptionSchema & {
  readonly [Method in keyof EthParamNames]: {
    readonly params: ByPosition<ByName<Method>, EthParamNames[Method]> | ByName<Method>;
    readonly result: Awaited<ReturnType<Methods[Method]>>;
  };
};

/** Request for a method in the schema. Parameters may be omitted if all of them are optional. */
export type EthSchemaRequest<Method extends keyof EthSchema> = readonly [] extends EthSchema[Method]["params"]
  ? { readonly method: Method; readonly params?: EthSchema[Method]["params"] }
  : { readonly method: Method; readonly params: EthSchema[Method]["params"] };
