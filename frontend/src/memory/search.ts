// The box at the top: names as one types; Enter opens the only name there is, or asks.
import { fill, h, whenQuiet } from "../common/dom";

export interface Found {
  name: string;
  label: string;
  weight: number;
}

const SOON = 100; // milliseconds after which the list of names goes in any case

export class Search {
  private found: Found[] = [];
  private active = -1;
  private turn = 0;

  constructor(
    private readonly input: HTMLInputElement,
    private readonly list: HTMLElement,
    private readonly parts: {
      names: (text: string) => Promise<Found[]>;
      /** Opens a name; it is shown when this settles. */
      choose: (name: string) => Promise<void>;
      ask: (question: string) => void;
    },
  ) {
    const look = whenQuiet(120, (turn: number) => void this.look(turn));
    input.addEventListener("input", () => look(++this.turn));
    input.addEventListener("keydown", (event) => this.key(event));
    input.addEventListener("blur", () => this.close());
    // the list would lose its click to the end of the focus
    list.addEventListener("pointerdown", (event) => event.preventDefault());
    input.form?.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.submit();
    });
  }

  /** Looks again for the names that are listed. */
  again(): void {
    if (!this.list.hidden) void this.look(++this.turn);
  }

  private async look(turn: number): Promise<void> {
    const text = this.input.value.trim();
    if (!text) {
      this.close();
      return;
    }
    const found = await this.parts.names(text);
    if (turn !== this.turn || document.activeElement !== this.input) return; // typed on, or asked meanwhile
    this.found = found;
    this.active = -1;
    this.show(text);
  }

  private show(text: string): void {
    const rows = this.found.map(({ label, weight }, number) =>
      h(
        "li",
        {
          id: `found-${number}`,
          role: "option",
          "aria-selected": String(number === this.active),
          click: () => this.take(number),
        },
        h("span", {}, label),
        h("span", { class: "muted" }, weight),
      ),
    );
    const ask = h(
      "li",
      {
        id: `found-${this.found.length}`,
        role: "option",
        class: "ask",
        "aria-selected": String(this.active === this.found.length),
        click: () => this.take(this.found.length),
      },
      `Ask “${text}”`,
    );
    fill(this.list, ...rows, ask);
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    if (this.active >= 0) this.input.setAttribute("aria-activedescendant", `found-${this.active}`);
    else this.input.removeAttribute("aria-activedescendant");
    this.list.children[this.active]?.scrollIntoView({ block: "nearest" });
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      this.close();
    } else if (!this.list.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const choices = this.found.length + 1;
      this.active = (this.active + (event.key === "ArrowDown" ? 1 : this.active < 0 ? 0 : -1) + choices) % choices;
      this.show(this.input.value.trim());
    }
  }

  private async submit(): Promise<void> {
    const text = this.input.value.trim();
    if (!text) return;
    if (!this.list.hidden && this.active >= 0) {
      this.take(this.active);
      return;
    }
    const turn = ++this.turn; // what is still looked for does not open the list again
    this.close();
    const found = text.includes("?") ? [] : await this.parts.names(text);
    if (turn !== this.turn) return;
    const same = found.find(({ name }) => name === text.toLowerCase());
    const only = same ?? (found.length === 1 ? found[0] : undefined);
    if (only !== undefined) void this.parts.choose(only.name);
    else this.parts.ask(text);
  }

  private take(number: number): void {
    const chosen = this.found[number];
    const question = this.input.value.trim();
    const turn = ++this.turn;
    if (chosen === undefined) {
      this.close();
      this.parts.ask(question);
      return;
    }
    // the list goes in the same frame in which the name is shown: a frame of its own would delay that one
    const close = (): void => {
      if (turn === this.turn) this.close();
    };
    setTimeout(close, SOON);
    void this.parts.choose(chosen.name).finally(close);
  }

  private close(): void {
    this.active = -1;
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
