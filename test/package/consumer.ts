/** A program in strict TypeScript that uses the types of the package, and compiles as an ES module and as CommonJS. */
export const CONSUMER = `
import { createClient, type DevChain, startDevChain } from "fanal";
import { RpcError } from "fanal/client";

export async function use(): Promise<void> {
  const chain: DevChain = await startDevChain({ validators: 64, fork: "deneb", rpc: 0, graffiti: "x", web: false });
  const { finalized_epoch } = await chain.client.dev_advance({ until: "finalized" });
  const epoch: string = finalized_epoch;
  const client = createClient({ url: chain.url ?? "ws://127.0.0.1:9190", token: epoch });
  const { root } = await client.get_v1_beacon_states_root({ state_id: "head" }, { signal: AbortSignal.timeout(1000) });
  const [head, same] = await client.batch([["getChainHead"], ["get_v1_beacon_states_root", { state_id: root }]]);
  if (!(head instanceof RpcError) && !(same instanceof RpcError)) console.log(head.head_slot, same.root.length);
  await client.subscribe(["head", "finalized_checkpoint"], (event) => {
    if (event.topic === "head") console.log(event.data.epoch_transition, event.data.slot.length);
  });
  await chain.stop();
  // @ts-expect-error: there is no such option.
  await startDevChain({ validator: 64 });
  // @ts-expect-error: the state is missing.
  await client.get_v1_beacon_states_root({});
  // @ts-expect-error: there is no such topic.
  await client.subscribe(["heads"], () => {});
}
`;
