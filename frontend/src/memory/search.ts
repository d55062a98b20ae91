// The search: names as one types, and on Enter what the question recalls.
import { fill, h, whenQuiet } from "../common/dom";

export interface Found {
  name: string;
  weight: number;
}

export class Search {
  private found: Found[] = [];
  private active = -1;

  constructor(
    private readonly input: HTMLInputElement,
    private readonly list: HTMLElement,
    private readonly parts: {
      names: (text: string) => Promise<Found[]>;
      choose: (name: string) => void;
      recall: (question: string) => void;
    },
  ) {
    const look = whenQuiet(120, () => void this.look());
    input.addEventListener("input", look);
    input.addEventListener("keydown", (event) => this.key(event));
    input.addEventListener("blur", () => this.close());
    // the list would lose its click to the end of the focus
    list.addEventListener("pointerdown", (event) => event.preventDefault());
    input.form?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
  }

  private async look(): Promise<void> {
    const text = this.input.value.trim();
    if (!text) {
      this.close();
      return;
    }
    const found = await this.parts.names(text);
    if (text !== this.input.value.trim() || document.activeElement !== this.input) return;
    this.found = found;
    this.active = -1;
    this.show(text);
  }

  private show(text: string): void {
    const rows = this.found.map(({ name, weight }, number) =>
      h(
        "li",
        {
          id: `found-${number}`,
          role: "option",
          "aria-selected": String(number === this.active),
          click: () => this.take(number),
        },
        h("span", {}, name),
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
      `Recall “${text}”`,
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

  private submit(): void {
    const text = this.input.value.trim();
    if (!text) return;
    if (!this.list.hidden && this.active >= 0) this.take(this.active);
    else if (!this.list.hidden && this.found[0]?.name === text.toLowerCase()) this.take(0);
    else this.take(this.found.length);
  }

  private take(number: number): void {
    const chosen = this.found[number];
    const question = this.input.value.trim();
    this.close();
    if (chosen !== undefined) this.parts.choose(chosen.name);
    else this.parts.recall(question);
  }

  private close(): void {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
