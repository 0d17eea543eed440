import { html } from "htm/preact";
import { useState } from "preact/hooks";

const SHOWN_MILLIS = 2500;

/** Copies a text and shows the outcome for a moment. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [outcome, setOutcome] = useState("");
  const copy = async () => {
    try {
      // The clipboard is available on localhost and https pages only.
      await navigator.clipboard.writeText(text);
      setOutcome("Copied");
    } catch {
      setOutcome("The browser does not allow copying");
    }
    setTimeout(() => setOutcome(""), SHOWN_MILLIS);
  };
  return html`<button type="button" onClick=${() => void copy()}><span aria-live="polite">${outcome || label}</span></button>`;
}
