import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import { type Parameter, readValue } from "../../calls.ts";
import { inputOf, type MethodInput } from "../../method-inputs.ts";

interface FieldProps {
  of: Parameter;
  value: string;
  /** Shown while the field is empty. */
  example: string | undefined;
  onChange(text: string): void;
}

/** Longer text is shown in a multi-line field. */
const LINE_LENGTH = 80;

/** Form control for a parameter: a select, checkboxes or a text field. */
export function Field({ of: { name, description, required, schema }, value, example, onChange }: FieldProps) {
  const input = inputOf(schema);
  const title = html`<code>${name}</code>${!required && html` <span class="waiting">optional</span>`}`;
  const note = description !== undefined && html`<small id=${`about-${name}`}>${description}</small>`;
  if (input.kind === "checkboxes") {
    return html`<fieldset><legend>${title}</legend><${Checkboxes} options=${input.options} value=${value} onChange=${onChange} />${note}</fieldset>`;
  }
  return html`<div class="field">
    <label for=${`param-${name}`}>${title}</label>
    <${Control} name=${name} input=${input} required=${required === true} value=${value} example=${example} onChange=${onChange} />
    ${note}
  </div>`;
}

interface ControlProps extends Pick<FieldProps, "value" | "example" | "onChange"> {
  name: string;
  input: MethodInput;
  required: boolean;
}

function Control({ name, input, required, value, example, onChange }: ControlProps): ComponentChildren {
  const id = `param-${name}`;
  const about = `about-${name}`;
  const change = (event: Event) => onChange((event.currentTarget as HTMLInputElement).value);
  const placeholder = example === undefined || example.length > LINE_LENGTH ? "" : `e.g. ${example}`;
  if (input.kind === "select") {
    return html`<select id=${id} aria-describedby=${about} value=${value} onChange=${change}>
      ${(!required || value === "") && html`<option value="">not set</option>`}
      ${input.options.map((option) => html`<option value=${option}>${option}</option>`)}
    </select>`;
  }
  if (input.kind === "area" || value.length > LINE_LENGTH) {
    return html`<textarea id=${id} rows=${value.length > LINE_LENGTH ? 6 : 2} spellcheck=${false} aria-describedby=${about} placeholder=${placeholder} value=${value} onInput=${change}></textarea>`;
  }
  const list = input.options.length === 0 ? undefined : `options-${name}`;
  return html`<input id=${id} list=${list} aria-describedby=${about} placeholder=${placeholder} autocomplete="off" spellcheck=${false} value=${value} onInput=${change} />
    ${list && html`<datalist id=${list}>${input.options.map((option) => html`<option value=${option}></option>`)}</datalist>`}`;
}

interface CheckboxesProps {
  options: readonly string[];
  /** The checked options as JSON. Empty if none are checked. */
  value: string;
  onChange(text: string): void;
}

function Checkboxes({ options, value, onChange }: CheckboxesProps) {
  const parsed = readValue(value);
  const selected = Array.isArray(parsed) ? parsed : [];
  const toggle = (option: string) => {
    const next = options.filter((each) => (each === option) !== selected.includes(each));
    onChange(next.length === 0 ? "" : JSON.stringify(next));
  };
  return html`<div class="choices">
    ${options.map((option) => html`<label><input type="checkbox" checked=${selected.includes(option)} onChange=${() => toggle(option)} /> ${option}</label>`)}
  </div>`;
}
