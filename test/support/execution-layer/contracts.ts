import contracts from "../../fixtures/execution-contracts.json" with { type: "json" };
import type { Hex } from "./wire.ts";

/** Deposit contract and system contracts (EIPs 4788, 2935, 7002, 7251) of the Hoodi genesis. */
export const CONTRACTS = Object.values(contracts);

export const DEPOSIT_CONTRACT = contracts.deposit.address as Hex;
export const WITHDRAWAL_REQUESTS = contracts.withdrawalRequests.address as Hex;
export const CONSOLIDATION_REQUESTS = contracts.consolidationRequests.address as Hex;
