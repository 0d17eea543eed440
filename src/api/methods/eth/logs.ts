import { unsupported } from "../../../errors/failure.ts";
import type { LogQuery } from "../../../evm/eth/logs/log-query.ts";
import type { EthSubscription } from "../../../evm/eth/logs/subscription.ts";
import { type CallContext, defineMethod, optional, required } from "../../definition.ts";
import { filterId } from "../../params/eth.ts";
import { logQuery, subscriptionOptions } from "../../params/eth-logs.ts";
import { stringEnum, text as textParam } from "../../params/scalars.ts";
import { boolean, described, either, list, shape, text } from "../../schemas.ts";
import { ethFeed } from "../../subscription-feed.ts";
import { ETH_READ, ethOf } from "./eth-of.ts";

const QUERY = required(
  logQuery,
  "Filter: fromBlock and toBlock, or blockHash; address, one or several; topics by position, each one, several or null.",
  { name: "filter" },
);
const FILTER_ID = required(filterId, "Id of the filter.", { name: "filter_id" });
const NEW_FILTER = { name: "filterId", schema: described(shape("Quantity"), "Id of the filter.") };

export const getLogs = defineMethod({
  ...ETH_READ,
  name: "eth_getLogs",
  summary: "Returns the logs of a range of blocks or of one block that match a filter.",
  params: { query: QUERY },
  result: { name: "logs", schema: list(shape("EthLog")) },
  cost: "evm",
  example: { params: [{ fromBlock: "earliest", toBlock: "latest" }] },
  handler: (context, args, call) => ethOf(context).call("getLogs", args, call?.signal),
});

const newFilter = defineMethod({
  ...ETH_READ,
  name: "eth_newFilter",
  summary:
    "Creates a filter for logs, with at most 1000 addresses and topics. It expires if it is not polled for five minutes.",
  params: { query: QUERY },
  result: NEW_FILTER,
  example: { params: [{ topics: [] }] },
  handler: (context, { query }) => ethOf(context).filters.addLogs(query),
});

const newBlockFilter = defineMethod({
  ...ETH_READ,
  name: "eth_newBlockFilter",
  summary: "Creates a filter for the hashes of new blocks.",
  result: NEW_FILTER,
  example: {},
  handler: (context) => ethOf(context).filters.addBlocks(),
});

const newPendingTransactionFilter = defineMethod({
  ...ETH_READ,
  name: "eth_newPendingTransactionFilter",
  summary: "Creates a filter for the hashes of transactions that enter the pool.",
  result: NEW_FILTER,
  example: {},
  handler: (context) => ethOf(context).filters.addPendingTransactions(),
});

const getFilterChanges = defineMethod({
  ...ETH_READ,
  name: "eth_getFilterChanges",
  summary: "Returns the matches of a filter since the last poll. Logs of reorged blocks have `removed: true`.",
  params: { id: FILTER_ID },
  result: { name: "changes", schema: either(list(shape("Root")), list(shape("EthLog"))) },
  example: { params: async (chain) => [await chain.filterId()] },
  handler: (context, { id }) => ethOf(context).filters.changes(id),
});

const getFilterLogs = defineMethod({
  ...ETH_READ,
  name: "eth_getFilterLogs",
  summary: "Returns all logs that match a filter, as eth_getLogs does.",
  params: { id: FILTER_ID },
  result: { name: "logs", schema: list(shape("EthLog")) },
  cost: "evm",
  example: { params: async (chain) => [await chain.filterId()] },
  handler: (context, { id }, call) => ethOf(context).filters.logs(id, call?.signal),
});

const uninstallFilter = defineMethod({
  ...ETH_READ,
  name: "eth_uninstallFilter",
  summary: "Removes a filter. Returns false if there is none with this id.",
  params: { id: FILTER_ID },
  result: { name: "removed", schema: boolean },
  example: { params: ["0x0"] },
  handler: (context, { id }) => ethOf(context).filters.remove(id),
});

const subscribe = defineMethod({
  ...ETH_READ,
  name: "eth_subscribe",
  summary:
    "Subscribes to new heads, logs or pending transactions over WebSocket. Notifications have the method " +
    "eth_subscription. A subscription to syncing sends none: the node never syncs.",
  params: {
    kind: required(stringEnum(["newHeads", "logs", "newPendingTransactions", "syncing"]), "What to subscribe to."),
    options: optional(subscriptionOptions, "A filter for logs; for transactions, true to receive whole ones."),
  },
  result: { name: "subscription", schema: text },
  needsConnection: true,
  example: { params: ["newHeads"] },
  handler: (context, { kind, options }, call) => {
    const subscription = subscriptionOf(kind, options);
    ethOf(context).checkSubscription(subscription);
    return callerOf(call).subscribe(ethFeed(context, subscription));
  },
});

const unsubscribe = defineMethod({
  ...ETH_READ,
  name: "eth_unsubscribe",
  summary: "Ends a subscription of the same WebSocket connection. Returns false if there is none with this id.",
  params: { subscription: required(textParam("the id of a subscription"), "Id of the subscription.") },
  result: { name: "ended", schema: boolean },
  needsConnection: true,
  example: { params: (chain) => [chain.subscriptionId] },
  handler: (_context, { subscription }, call) => callerOf(call).unsubscribe(subscription),
});

function subscriptionOf(kind: EthSubscription["kind"], options: LogQuery | boolean = {}): EthSubscription {
  if (kind === "newHeads" || kind === "syncing") return { kind };
  if (kind === "newPendingTransactions") return { kind, full: options === true };
  const { addresses, topics } = typeof options === "object" ? options : {};
  return { kind, addresses, topics };
}

function callerOf({ caller }: CallContext = {}) {
  if (caller === undefined) throw unsupported("Subscriptions need a WebSocket connection.");
  return caller;
}

export const ethLogMethods = [
  getLogs,
  newFilter,
  newBlockFilter,
  newPendingTransactionFilter,
  getFilterChanges,
  getFilterLogs,
  uninstallFilter,
  subscribe,
  unsubscribe,
] as const;
