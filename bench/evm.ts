/**
 * Measures the EVM: blocks, transactions, memory and reverts.
 *
 *     npm run bench -- evm [transactions]
 */
const { benchEvm } = await import("./evm/run.ts");
await benchEvm({ transactions: Number(process.argv[2] ?? 20_000) });

export {};
