/**
 * Cost of blocks and transactions in the EVM, of memory and of returning to an old state.
 *
 *     npm run bench -- evm [transactions]
 */
const { benchEvm } = await import("./evm/run.ts");
await benchEvm({ transactions: Number(process.argv[2] ?? 20_000) });

export {};
