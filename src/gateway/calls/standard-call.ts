import type { Method } from "../../api/definition.ts";
import { rejected } from "../../errors/failure.ts";
import type { Answer, Params, Waiting } from "../../server/method-table.ts";
import { ONLY_BROADCAST } from "../upstream/submission.ts";
import { answerOf } from "./answers.ts";
import { readRefusal } from "./failures.ts";
import { methodNamed, type Operations } from "./operations.ts";
import type { TwinRequest } from "./rest-twin.ts";
import type { StandIn } from "./stand-ins.ts";

/** Longer ones are refused by some nodes. */
const LONGEST_URL = 4096;

/** The operations that take in their body what is too long for a URL, and their parameters of what the others have in the query. */
const BY_BODY: Readonly<Record<string, [asked: string, params: (given: TwinRequest["params"]) => Params]>> = {
  get_v1_beacon_states_stateId_validators: [
    "post_v1_beacon_states_stateId_validators",
    ({ state_id, id, status }) => ({
      state_id,
      filter: { ...(id && { ids: id.split(",") }), ...(status && { statuses: status.split(",") }) },
    }),
  ],
  get_v1_beacon_states_stateId_validator_balances: [
    "post_v1_beacon_states_stateId_validator_balances",
    ({ state_id, id }) => ({ state_id, ...(id && { ids: id.split(",") }) }),
  ],
};

interface StandardCall {
  call(params: Params, waiting: Waiting): Promise<Answer>;
  /** The same with the parameters in a long message. */
  callByMessage(message: Uint8Array, waiting: Waiting): Promise<Answer>;
}

/** Answers calls of a method by asking for an operation of the standard. */
export function standardCall(
  method: Method,
  { asked: name, query, beside, mustBeImported }: StandIn,
  operations: Operations,
): StandardCall {
  const asked = methodNamed(name);
  const twin = operations.twin(method, asked, query);
  const byBody = BY_BODY[name];
  const call = async (params: Params, waiting: Waiting): Promise<Answer> => {
    const made = twin.requestFor(params);
    const request = made instanceof Promise ? await made : made;
    const response =
      byBody && request.request.url.length > LONGEST_URL
        ? await operations.respond(byBody[0], byBody[1](request.params), waiting)
        : await operations.put(asked, request, { waiting });
    if (mustBeImported && response.status === ONLY_BROADCAST) {
      throw rejected(`The block was broadcast, but the upstream ${response.upstream} did not import it.`);
    }
    return answerOf(method, response.status < 400 ? response : await readRefusal(response, waiting), beside);
  };
  return { call, callByMessage: async (message, waiting) => call(twin.paramsIn(message), waiting) };
}
