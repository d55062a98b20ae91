// What can be set of a play: the settings of its agent, its memory module and its game, as they describe themselves.
import { get, said } from "../common/api";
import { count, fill, h } from "../common/dom";

export type SettingValue = boolean | number | string | null | (number | string)[];
export type Settings = Record<string, Record<string, SettingValue>>;

interface Setting {
  name: string;
  types: string[];
  default: SettingValue;
  meaning: string;
}

const PARTS: [string, string][] = [
  ["agent", "Agent"],
  ["memory", "Memory module"],
  ["game", "Game"],
];

export interface Player {
  game: string;
  agent: string;
  module: string;
}

export class PlaySettings {
  readonly element: HTMLDetailsElement;
  private readonly title = h("summary", {}, "Settings");
  private readonly body = h("div", {});
  private chosen: Settings = {};
  private shownFor = "";

  /** @param player who plays what: whose settings they are */
  constructor(private readonly player: () => Player) {
    this.element = h("details", { class: "settings", id: "settings" }, this.title, this.body);
    this.element.addEventListener("toggle", () => void this.show());
  }

  /** What was chosen: only what differs from the defaults. */
  values(): Settings {
    return this.chosen;
  }

  /** Another game, agent or memory module was chosen: it has settings of its own. */
  changed(): void {
    this.chosen = {};
    this.shownFor = "";
    this.say();
    void this.show();
  }

  private say(): void {
    const number = Object.values(this.chosen).reduce((sum, of) => sum + Object.keys(of).length, 0);
    this.title.textContent = number ? `Settings (${number} changed)` : "Settings";
  }

  private async show(): Promise<void> {
    const player = this.player();
    const wanted = JSON.stringify(player);
    if (!this.element.open || wanted === this.shownFor) return;
    this.shownFor = wanted;
    try {
      const told = await get<Record<string, Setting[]>>("/api/choices/settings", { ...player });
      if (wanted === this.shownFor) this.draw(told);
    } catch (error) {
      this.shownFor = "";
      fill(this.body, h("p", { class: "error", role: "alert" }, said(error)));
    }
  }

  private draw(told: Record<string, Setting[]>): void {
    const all = PARTS.reduce((sum, [part]) => sum + (told[part]?.length ?? 0), 0);
    if (!all) {
      fill(this.body, h("p", { class: "muted" }, "Nothing can be set here."));
      return;
    }
    const rows: [string, HTMLElement][] = [];
    const parts = PARTS.flatMap(([part, title]) => {
      const of = told[part] ?? [];
      const drawn = of.map((one): HTMLElement => {
        const row = this.row(part, one);
        rows.push([`${one.name} ${one.meaning}`.toLowerCase(), row]);
        return row;
      });
      return drawn.length ? [h("fieldset", {}, h("legend", {}, title), ...drawn)] : [];
    });
    const find = h("input", {
      type: "search",
      id: "find-setting",
      "aria-label": "Find a setting",
      placeholder: `Find one of ${count(all, "setting")}`,
      autocomplete: "off",
      input: () => {
        const text = find.value.trim().toLowerCase();
        for (const [words, row] of rows) row.hidden = !words.includes(text);
      },
    });
    fill(
      this.body,
      h("p", { class: "muted" }, "An empty field keeps the default. The run keeps what you choose, and is replayed with it."),
      all > 8 ? find : null,
      ...parts,
    );
  }

  private row(part: string, one: Setting): HTMLElement {
    const id = `set-${part}-${one.name}`;
    const about = `${id}-about`;
    const isSwitch = one.types.length === 1 && one.types[0] === "bool";
    const shownDefault = shownValue(one.default);
    const input = isSwitch
      ? h("input", { id, type: "checkbox", checked: one.default === true, "aria-describedby": about })
      : h("input", {
          id,
          type: "text",
          inputmode: isNumber(one) ? "decimal" : "text",
          placeholder: shownDefault,
          autocomplete: "off",
          "aria-describedby": about,
        });
    input.addEventListener("change", () => {
      const text = input.value.trim();
      const value = isSwitch ? input.checked : text === "" ? undefined : read(text, one);
      const isWrong = value === WRONG;
      input.setCustomValidity(isWrong ? `${one.name} must be ${inWords(one)}` : "");
      if (isWrong) input.reportValidity();
      const of = { ...this.chosen[part] };
      if (isWrong || value === undefined || same(value, one.default)) delete of[one.name];
      else of[one.name] = value as SettingValue;
      this.chosen = { ...this.chosen, [part]: of };
      this.say();
    });
    return h(
      "div",
      { class: isSwitch ? "setting switch" : "setting" },
      h("label", { for: id }, one.name.replaceAll("_", " ")),
      input,
      h("p", { class: "muted", id: about }, one.meaning, h("span", { class: "default" }, ` Default: ${shownDefault}`)),
    );
  }
}

const WRONG = Symbol("what was typed is no value");

function read(text: string, { types, default: usual }: Setting): SettingValue | typeof WRONG {
  if (types.includes("tuple")) {
    const parts = text.split(",").map((part) => part.trim());
    if (Array.isArray(usual) && typeof usual[0] === "string") return parts;
    const numbers = parts.map(Number);
    return parts.includes("") || numbers.some(Number.isNaN) ? WRONG : numbers;
  }
  if (types.includes("None") && text === "none") return null;
  if (types.includes("bool") && (text === "true" || text === "false")) return text === "true";
  const number = Number(text);
  if (types.includes("float") && !Number.isNaN(number)) return number;
  if (types.includes("int") && Number.isInteger(number)) return number;
  return types.includes("str") || !types.length ? text : WRONG;
}

const isNumber = ({ types }: Setting): boolean => types.includes("int") || types.includes("float");

function inWords({ types }: Setting): string {
  const words: Record<string, string> = {
    bool: "true or false",
    float: "a number",
    int: "a whole number",
    None: "“none”",
    str: "a text",
    tuple: "numbers with commas between them",
  };
  return types.map((type) => words[type] ?? type).join(", or ");
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

function shownValue(value: SettingValue): string {
  if (value === null) return "none";
  return Array.isArray(value) ? value.join(", ") : String(value);
}
