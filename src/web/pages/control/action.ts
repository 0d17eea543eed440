import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { readValue } from "../../calls.ts";
import { perform } from "./perform.ts";

/** Field of an action. A field with options is a select. */
export interface ActionField {
  /** Name of the parameter. */
  name: string;
  label: string;
  initial?: string;
  placeholder?: string;
  options?: readonly string[];
  isRequired?: true;
}

interface ActionProps {
  label: string;
  method: string;
  fields?: readonly ActionField[];
}

/** Form that calls a method with the field values as parameters. Empty fields are omitted. */
export function Action({ label, method, fields = [] }: ActionProps) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>(
    Object.fromEntries(fields.map(({ name, initial = "" }) => [name, initial])),
  );
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    const filled = Object.entries(typed).filter(([, text]) => text.trim() !== "");
    setBusy(true);
    await perform(method, Object.fromEntries(filled.map(([name, text]) => [name, readValue(text.trim())])));
    setBusy(false);
  };
  return html`<form onSubmit=${submit}>
    ${fields.map(
      (field) =>
        html`<label>${field.label} <${FieldInput} of=${field} value=${typed[field.name]} onChange=${(text: string) => setTyped({ ...typed, [field.name]: text })} /></label>`,
    )}
    <button type="submit" disabled=${isBusy}>${label}</button>
  </form>`;
}

interface FieldInputProps {
  of: ActionField;
  value: string;
  onChange(text: string): void;
}

function FieldInput({ of: { options, isRequired, placeholder }, value, onChange }: FieldInputProps) {
  const change = (event: Event) => onChange((event.currentTarget as HTMLInputElement).value);
  if (options === undefined) {
    return html`<input value=${value} required=${isRequired} placeholder=${placeholder} autocomplete="off" onInput=${change} />`;
  }
  return html`<select value=${value} onChange=${change}>${options.map((option) => html`<option>${option}</option>`)}</select>`;
}
