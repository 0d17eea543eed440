import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import type { Topic } from "../../../client/index.ts";
import { asSubscription, type Parameter } from "../../calls.ts";
import { messageOf } from "../../format.ts";
import { inputOf } from "../../method-inputs.ts";
import { hasEvents, node } from "../../node.ts";
import { JsonView } from "../../parts/json-view.ts";
import { Problem } from "../../parts/loading.ts";
import { Snippet } from "./snippets.ts";

const MAX_EVENTS = 200;

interface ReceivedEvent {
  number: number;
  topic: string;
  data: unknown;
}

/** Subscribes to topics and shows the events received, newest first. */
export function EventConsole({ parameter }: { parameter: Parameter | undefined }) {
  const topics = parameter ? inputOf(parameter.schema).options : [];
  const [chosen, setChosen] = useState<readonly string[]>(["head"]);
  const [isOn, setOn] = useState(false);
  const [isSubscribed, setSubscribed] = useState(false);
  const [received, setReceived] = useState<readonly ReceivedEvent[]>([]);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (!isOn || chosen.length === 0) return;
    let isOver = false;
    setProblem("");
    const subscribed = node.subscribe(chosen as Topic[], ({ topic, data }) => {
      setReceived((before) => [{ number: (before[0]?.number ?? 0) + 1, topic, data }, ...before].slice(0, MAX_EVENTS));
    });
    subscribed.then(
      () => setSubscribed(!isOver),
      (error: unknown) => setProblem(messageOf(error)),
    );
    return () => {
      isOver = true;
      setSubscribed(false);
      void subscribed.then((subscription) => subscription.unsubscribe()).catch(() => {});
    };
  }, [isOn, chosen.join()]);
  if (!hasEvents)
    return html`<${Problem}>Browsers cannot send a token over a WebSocket, so this page receives no events.<//>`;
  const toggle = (topic: string) =>
    setChosen(chosen.includes(topic) ? chosen.filter((each) => each !== topic) : [...chosen, topic]);
  return html`<fieldset><legend>Topics</legend>
      <div class="choices">
        ${topics.map((topic) => html`<label><input type="checkbox" checked=${chosen.includes(topic)} onChange=${() => toggle(topic)} /> ${topic}</label>`)}
      </div>
    </fieldset>
    <p class="buttons">
      <button class="primary" type="button" disabled=${chosen.length === 0} onClick=${() => setOn(!isOn)}>${isOn ? "Stop" : "Listen"}</button>
      <span role="status">${isSubscribed && "Listening"}</span>
      ${received.length > 0 && html`<button type="button" onClick=${() => setReceived([])}>Clear</button>`}
    </p>
    ${problem !== "" && html`<${Problem}>${problem}<//>`}
    <div class="events">${received.map(({ number, topic, data }) => html`<${JsonView} key=${number} name=${`${number} ${topic}`} value=${data} />`)}</div>
    <h3>This subscription as code</h3>
    <${Snippet} text=${asSubscription(location.origin, chosen)} />`;
}
