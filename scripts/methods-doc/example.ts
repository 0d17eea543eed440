import type { ExampleChain } from "./example-chain.ts";

/** A call that shows what a method does. */
export interface Example {
  /** The parameters of the call; may do before it what a caller would have done. */
  params(chain: ExampleChain): unknown[] | Promise<unknown[]>;
  /** Where the chain has to be for the example; phase0 unless said otherwise. */
  fork?: "altair" | "fulu";
}
