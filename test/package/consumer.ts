/** A program in strict TypeScript that uses the types of the package, and compiles as an ES module and as CommonJS. */
export const CONSUMER = `
import { createClient, type DevChain, type DevChainOptions, RpcError, StartupError, startDevChain } from "fanal";
import { type Client, type Hex, RpcError as ClientError } from "fanal/client";

export async function use(options: DevChainOptions): Promise<void> {
  const chain: DevChain = await startDevChain({ validators: 64n, fork: "deneb", rpc: 0, graffiti: "x", web: false });
  const { finalized_epoch } = await chain.client.dev_advance({ until: "finalized" });
  const epoch: string = finalized_epoch;
  const client = createClient({ url: chain.url ?? "ws://127.0.0.1:9190", token: epoch });
  const { root } = await client.get_v1_beacon_states_root({ state_id: "head" }, { signal: AbortSignal.timeout(1000) });
  const hex: Hex = root;
  const [head, same] = await client.batch([["getChainHead"], ["get_v1_beacon_states_root", { state_id: hex }]]);
  if (!(head instanceof RpcError) && !(same instanceof RpcError)) console.log(head.head_slot, same.root.length);
  await client.subscribe(["head", "finalized_checkpoint"], (event) => {
    if (event.topic === "head") console.log(event.data.epoch_transition, event.data.slot.length);
  });
  await chain.stop();
  // @ts-expect-error: there is no such option.
  await startDevChain({ validators: 64, validator: 64 });
  // @ts-expect-error: there is no such fork.
  await startDevChain({ fork: "pectra" });
  // @ts-expect-error: there is no such fork.
  await startDevChain({ forkAt: { nonsense: 3 } });
  // @ts-expect-error: the state is missing.
  await client.get_v1_beacon_states_root({});
  // @ts-expect-error: there is no such topic.
  await client.subscribe(["heads"], () => {});
  const any: DevChain = await startDevChain(options);
  console.log(any.url, new ClientError({ code: 1, message: "" }).kind === "other");
}

export async function useForks(): Promise<void> {
  const fulu: DevChain<"fulu"> = await startDevChain();
  console.log((await fulu.block("finalized")).message.body.execution_requests.deposits[0]?.index);
  console.log((await fulu.state(4n)).proposer_lookahead, (await fulu.block()).message.body.attestations[0]?.committee_bits);
  const capella = await startDevChain({ fork: "capella" });
  const { body } = (await capella.block()).message;
  console.log(body.execution_payload.withdrawals);
  // @ts-expect-error: since deneb.
  console.log(body.blob_kzg_commitments);
  const upgraded: DevChain<"deneb" | "electra"> = await startDevChain({ forkAt: { electra: 2 } });
  const anyFork: Client = upgraded.client;
  const crossing: DevChain<"fulu" | "gloas"> = await startDevChain({ gloasAt: 1 });
  const { body: either } = (await crossing.block()).message;
  if ("execution_payload" in either) console.log(either.execution_payload.block_hash);
  else console.log(either.signed_execution_payload_bid.message.block_hash);
  await startDevChain({ fork: "electra", forkAt: { fulu: 1 }, gloasAt: 2n }) satisfies DevChain<
    "electra" | "fulu" | "gloas"
  >;
  const block = await anyFork.get_v2_beacon_blocks_blockId({ block_id: 5 });
  // @ts-expect-error: since bellatrix.
  console.log(block.message.body.execution_payload);
  if ("execution_payload" in block.message.body) console.log(block.message.body.execution_payload.block_hash);
  for (const update of await anyFork.get_v1_beacon_light_client_updates({ start_period: 0, count: 1 })) {
    if (update.version === "deneb") console.log(update.data.attested_header.execution.blob_gas_used);
    // @ts-expect-error: since capella.
    if (update.version === "altair") console.log(update.data.attested_header.execution);
  }
}

export async function useShortNames(chain: DevChain<"fulu">): Promise<void> {
  await chain.advance({ epochs: 2n });
  await chain.advanceUntil({ validator: 3, status: "withdrawal_done" });
  // @ts-expect-error: there is no such status.
  await chain.advanceUntil({ validator: 3, status: "gone" });
  const balance: bigint = await chain.validator(3).balance();
  const [deposit] = await chain.validators.deposit({ count: 4, credentials: (await chain.head()).head_block_root });
  const pubkey: Hex | undefined = deposit?.data.pubkey;
  if (deposit?.type === "deposit_request") console.log(deposit.data.index, balance, pubkey);
  const { branch } = await chain.prove.validator(3, "withdrawal_credentials");
  const path = ["validators", 3];
  const single = await chain.client.getStateProof({ state_id: "head", path });
  const multi = await chain.client.getStateProof({ state_id: "head", path: [["slot"], ["fork"]] });
  console.log(branch, single.branch, multi.witnesses);
  const snapshot = await chain.snapshot();
  await snapshot.revert();
  const error: unknown = await startDevChain({ validators: 1 }).catch((thrown: unknown) => thrown);
  if (error instanceof StartupError && error.kind === "invalid-option") console.log(error.message);
}
`;
