import { createChainForkConfig } from "@lodestar/config";
import { chainConfig } from "@lodestar/config/default";
import { ForkName } from "@lodestar/params";
import { concat, Transaction, type TransactionLike, Wallet } from "ethers";
import { DevBlobs } from "../../../../src/dev/dev-blobs.ts";
import { fundedAccounts } from "../../../../src/evm/accounts.ts";
import { versionedHashesOf } from "../../../../src/execution/engine.ts";
import { RECEIVERS } from "../accounts.ts";
import { CODES, deploymentOf, word } from "../contracts.ts";
import { type Hex, type PoolJson, quantity, smaller, type TransactionJson } from "../json.ts";
import { type Action, attempt, clockSlot, outcomeOf, type Scenario } from "../scenario.ts";

const WALLETS = fundedAccounts().map(({ privateKey }) => new Wallet(privateKey));
/** The last account sends the requests of the methods `dev_…`. The two before it have other balances at times. */
const SENDERS = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const GWEI = 10n ** 9n;
const CHAIN_ID = 31_337;
const BLOB_GAS = 131_072n;
const SLOTS_PER_EPOCH = 8;

const addressOf = (account: number) => WALLETS[account]!.address.toLowerCase() as Hex;

type Fields = Partial<TransactionLike<string>>;

/** Random fees of a random type. */
async function fees({ choices, chain }: Scenario): Promise<Fields> {
  const { baseFeePerGas } = await chain.call<{ baseFeePerGas: Hex }>("eth_getBlockByNumber", ["latest", false]);
  const base = BigInt(baseFeePerGas);
  const tip = BigInt(choices.integer(0, 3)) * GWEI;
  // Some wait until the base fee has fallen.
  const limit = choices.chance(0.06) ? (base * 4n) / 5n : 3n * base + 5n * GWEI;
  const type = choices.pick([0, 1, 2, 2, 2]);
  if (type < 2) return { type, gasPrice: limit };
  return { type, maxFeePerGas: limit, maxPriorityFeePerGas: smaller(tip, limit) };
}

async function nextNonce({ chain }: Scenario, account: number): Promise<number> {
  return Number(await chain.call<Hex>("eth_getTransactionCount", [addressOf(account), "pending"]));
}

/** Since Amsterdam, new state costs many times as much. */
async function gasLimit({ forks, ...scenario }: Scenario, limit = 300_000n): Promise<bigint> {
  const epoch = Math.floor((await clockSlot(scenario)) / SLOTS_PER_EPOCH);
  const isGloas = forks.fork === "gloas" || epoch >= (forks.forkAt.gloas ?? Number.POSITIVE_INFINITY);
  return isGloas && limit >= 50_000n && limit <= 300_000n ? 8n * limit : limit;
}

async function send(scenario: Scenario, account: number, fields: Fields): Promise<string> {
  const given = {
    chainId: CHAIN_ID,
    ...fields,
    gasLimit: await gasLimit(scenario, fields.gasLimit as bigint | undefined),
  };
  const transaction = Transaction.from(given as TransactionLike<string>);
  const from = addressOf(account);
  transaction.signature = WALLETS[account]!.signingKey.sign(transaction.unsignedHash);
  const hash = transaction.hash as Hex;
  const sent = {
    hash,
    from,
    nonce: BigInt(transaction.nonce),
    cost:
      transaction.gasLimit * (transaction.maxFeePerGas ?? transaction.gasPrice)! +
      transaction.value +
      BLOB_GAS * BigInt(transaction.blobs?.length ?? 0) * (transaction.maxFeePerBlobGas ?? 0n),
    isBlob: transaction.type === 3,
    epoch: Math.floor((await clockSlot(scenario)) / SLOTS_PER_EPOCH),
  };
  const outcome = await attempt<Hex>(scenario, "eth_sendRawTransaction", [transaction.serialized]);
  if (outcome.error === undefined) {
    if (outcome.result !== hash) throw new Error(`eth_sendRawTransaction returned ${outcome.result}, not ${hash}`);
    scenario.sent.add(sent);
  }
  return `${account}/${transaction.nonce} ${hash.slice(0, 10)}${outcomeOf(outcome)}`;
}

const contractsWith = ({ contracts }: Scenario, code: string) => contracts.filter((contract) => contract.code === code);

async function transfer(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  const account = choices.pick(SENDERS);
  const to = choices.chance(0.3) ? addressOf(choices.pick(SENDERS)) : choices.pick(RECEIVERS);
  const nonce = await nextNonce(scenario, account);
  const value = BigInt(choices.integer(0, 1000)) * GWEI;
  return send(scenario, account, { to, value, nonce, gasLimit: 21_000n, ...(await fees(scenario)) });
}

async function burst(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  const senders = SENDERS.slice(0, choices.integer(2, 6));
  const prepared = [];
  for (const account of senders) {
    const nonce = await nextNonce(scenario, account);
    prepared.push({ account, fields: { to: RECEIVERS[1]!, value: 1n, nonce, ...(await fees(scenario)) } });
  }
  const all = await Promise.all(prepared.map(({ account, fields }) => send(scenario, account, fields)));
  return all.join("; ");
}

async function gapped(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  const account = choices.pick(SENDERS.slice(0, 7));
  const nonce = (await nextNonce(scenario, account)) + choices.integer(1, 2);
  return send(scenario, account, { to: RECEIVERS[2]!, value: 3n, nonce, ...(await fees(scenario)) });
}

async function pooledOf({ chain }: Scenario): Promise<TransactionJson[]> {
  const { pending, queued } = await chain.call<PoolJson>("txpool_content");
  return [pending, queued].flatMap((senders) => Object.values(senders).flatMap((byNonce) => Object.values(byNonce)));
}

/** Raises the fees of a pooled transaction, sometimes too little. */
async function replace(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  const pooled = (await pooledOf(scenario)).filter(
    ({ from, type }) => type !== "0x3" && SENDERS.some((account) => addressOf(account) === from),
  );
  if (pooled.length === 0) return "nothing to replace";
  const { from, nonce, gasPrice, maxFeePerGas = gasPrice, maxPriorityFeePerGas = gasPrice } = choices.pick(pooled);
  const account = SENDERS.find((each) => addressOf(each) === from)!;
  const percent = choices.pick([101n, 130n, 200n]);
  const raised = (fee: Hex) => (BigInt(fee) * percent) / 100n + 1n;
  const cost = { type: 2, maxFeePerGas: raised(maxFeePerGas), maxPriorityFeePerGas: raised(maxPriorityFeePerGas) };
  // A transfer of nothing to oneself cancels the transaction.
  return send(scenario, account, { to: from, value: 0n, nonce: Number(nonce), gasLimit: 21_000n, ...cost });
}

async function drop(scenario: Scenario): Promise<string> {
  const { choices, chain, sent } = scenario;
  const pooled = await pooledOf(scenario);
  if (pooled.length === 0) return "nothing to drop";
  if (choices.chance(0.2)) {
    sent.drop(pooled.map(({ hash }) => hash));
    await chain.call("anvil_dropAllTransactions");
    return `all ${pooled.length}`;
  }
  const { hash, from } = choices.pick(pooled);
  if (choices.chance(0.3)) {
    sent.drop(pooled.filter((each) => each.from === from).map((each) => each.hash));
    await chain.call("anvil_removePoolTransactions", [from]);
    return `of ${from}`;
  }
  sent.drop([hash]);
  await chain.call("anvil_dropTransaction", [hash]);
  return hash;
}

async function deploy(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  const account = choices.pick(SENDERS.slice(0, 7));
  const nonce = await nextNonce(scenario, account);
  const code = choices.pick(Object.values(CODES));
  const failing = choices.chance(0.15);
  const data = failing ? `0x${choices.pick(["60006000fd", "5b600056", "fe"])}` : deploymentOf(code);
  const name = Object.entries(CODES).find(([, each]) => each === code)![0];
  const done = await send(scenario, account, { data, nonce, value: failing ? 5n : 0n, ...(await fees(scenario)) });
  return `${failing ? "failing" : name} by ${done}`;
}

/** Notes contracts that blocks have deployed, so that others can call them. */
export function noteContracts(scenario: Scenario): void {
  scenario.contracts = scenario.canonical.blocks.flatMap(({ eth, receipts }) =>
    receipts.flatMap(({ contractAddress, status }, index) => {
      if (contractAddress === null || status !== "0x1") return [];
      const input = (eth.transactions[index] as TransactionJson & { input: Hex }).input;
      const code = Object.values(CODES).find((each) => deploymentOf(each) === input);
      return code === undefined ? [] : [{ address: contractAddress, code }];
    }),
  );
}

async function callContract(scenario: Scenario): Promise<string> {
  const { choices, contracts } = scenario;
  if (contracts.length === 0) return "no contract yet";
  const account = choices.pick(SENDERS.slice(0, 7));
  const nonce = await nextNonce(scenario, account);
  const { address: to, code } = choices.pick(contracts);
  const takesAddress = code === CODES.destroy || code === CODES.forward;
  const argument = takesAddress ? choices.pick(RECEIVERS) : choices.integer(0, 3);
  const value = choices.chance(0.4) ? BigInt(choices.integer(1, 100)) : 0n;
  const gasLimit = choices.chance(0.1) ? 23_000n : 200_000n;
  const name = Object.entries(CODES).find(([, each]) => each === code)![0];
  const data = `0x${word(argument)}`;
  return `${name} by ${await send(scenario, account, { to, data, nonce, value, gasLimit, ...(await fees(scenario)) })}`;
}

async function blobs(scenario: Scenario): Promise<string> {
  const { choices, forks } = scenario;
  const slot = (await clockSlot(scenario)) + 1;
  const epoch = Math.floor(slot / SLOTS_PER_EPOCH);
  const isFulu =
    forks.fork === "fulu" || forks.fork === "gloas" || epoch >= (forks.forkAt.fulu ?? Number.POSITIVE_INFINITY);
  const account = choices.pick(SENDERS.slice(0, 4));
  const nonce = await nextNonce(scenario, account);
  const count = choices.integer(1, 2);
  const config = createChainForkConfig({ ...chainConfig, DENEB_FORK_EPOCH: 0, ELECTRA_FORK_EPOCH: 0 });
  const source = new DevBlobs({ config, counts: { min: count, max: count } });
  const parent = { blockHash: new Uint8Array(32).fill(choices.integer(0, 255)), blockNumber: 0 };
  const bundle = source.bundleFor({ fork: isFulu ? ForkName.fulu : ForkName.deneb, slot, parent });
  const proofsOfBlob = bundle.proofs.length / bundle.blobs.length;
  const fields = {
    blobVersionedHashes: versionedHashesOf(bundle.commitments).map((hash) => `0x${Buffer.from(hash).toString("hex")}`),
    blobs: bundle.blobs.map((data, index) => ({
      data,
      commitment: bundle.commitments[index]!,
      proof: concat(bundle.proofs.slice(index * proofsOfBlob, (index + 1) * proofsOfBlob)),
    })),
    ...(proofsOfBlob > 1 && { blobWrapperVersion: 1 }),
  };
  const price = { type: 3, maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: 2n * GWEI, maxFeePerBlobGas: 10n * GWEI };
  return send(scenario, account, { ...fields, ...price, to: RECEIVERS[3]!, value: 1n, nonce } as Fields);
}

/** A transaction of an account without its key. */
async function impersonate(scenario: Scenario): Promise<string> {
  const { choices, chain, sent } = scenario;
  const [contract] = contractsWith(scenario, CODES.counter);
  const from = choices.chance(0.5) && contract ? contract.address : choices.pick(RECEIVERS);
  await chain.call("anvil_impersonateAccount", [from]);
  const transaction = { from, to: RECEIVERS[4]!, value: "0x1", gas: quantity(50_000n), gasPrice: quantity(40n * GWEI) };
  const outcome = await attempt<Hex>(scenario, "eth_sendTransaction", [transaction]);
  if (choices.chance(0.5)) await chain.call("anvil_stopImpersonatingAccount", [from]);
  if (outcome.error === undefined) {
    const found = await chain.call<TransactionJson | null>("eth_getTransactionByHash", [outcome.result]);
    if (found === null) throw new Error(`${outcome.result} of ${from} is unknown after its acknowledgement`);
    const cost = 50_000n * 40n * GWEI + 1n;
    sent.add({ hash: found.hash, from, nonce: BigInt(found.nonce), cost, isBlob: false, epoch: 0 });
  }
  return `${from}${outcomeOf(outcome)}`;
}

/** Transactions that the pool has to refuse. */
async function refused(scenario: Scenario): Promise<string> {
  const { choices } = scenario;
  const account = choices.pick(SENDERS);
  const nonce = await nextNonce(scenario, account);
  const fee = { type: 2, maxFeePerGas: 20n * GWEI, maxPriorityFeePerGas: GWEI };
  const wrong = choices.pick<Fields>([
    { nonce, value: 10n ** 40n },
    { nonce, gasLimit: 11_000n },
    { nonce, gasLimit: 100_000_000n },
    { nonce, chainId: 5 },
    { nonce: nonce - 1, value: 77n },
    { nonce, data: `0x${"00".repeat(140_000)}` },
  ]);
  if (wrong.nonce === -1) return "no nonce before the first";
  const before = scenario.sent.all.length;
  const done = await send(scenario, account, { to: RECEIVERS[5]!, ...fee, ...wrong });
  if (scenario.sent.all.length > before && wrong.nonce === nonce)
    throw new Error(`An invalid transaction was accepted: ${done}`);
  return done;
}

export const TRANSACTION_ACTIONS: readonly Action[] = [
  { name: "transfer", weight: 14, run: transfer },
  { name: "burst of transfers", weight: 4, run: burst },
  { name: "transfer after a gap", weight: 3, run: gapped },
  { name: "replace", weight: 4, run: replace },
  { name: "drop", weight: 2, run: drop },
  { name: "deploy", weight: 8, run: deploy },
  { name: "call contract", weight: 10, run: callContract },
  { name: "blobs", weight: 4, run: blobs },
  { name: "impersonate", weight: 3, run: impersonate },
  { name: "refused transaction", weight: 3, run: refused },
];
