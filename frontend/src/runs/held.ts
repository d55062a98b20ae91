// What the memory held before and after a step: what changed comes first.
import { count, fill, h } from "../common/dom";
import type { HeldTold } from "./data";
import { shownStatement } from "../common/words";

const MARKS = { began: "+", ended: "−", "": "" };
const SAID = { began: "began", ended: "ended", "": "" };

export class HeldMemory {
  private readonly list = h("div");
  readonly element: HTMLDetailsElement;

  /** @param toggled called when a person opens or closes it; only then is anything loaded */
  constructor(toggled: (opened: boolean) => void) {
    this.element = h(
      "details",
      { class: "held", toggle: () => toggled(this.element.open) },
      h("summary", {}, "The memory before and after this step"),
      this.list,
    );
  }

  get isOpen(): boolean {
    return this.element.open;
  }

  show({ before, after, statements, left_out }: HeldTold): void {
    fill(
      this.list,
      h("p", { class: "muted" }, `${count(before, "statement")} before, ${count(after, "statement")} after`),
      h(
        "ul",
        { class: "plain", tabindex: 0, "aria-label": "Statements" },
        ...statements.map(({ text, change }) =>
          h(
            "li",
            { class: change ? `held-${change}` : null },
            h("span", { class: "mark", "aria-hidden": "true" }, MARKS[change]),
            change ? h("span", { class: "unseen" }, `${SAID[change]}: `) : null,
            shownStatement(text),
          ),
        ),
      ),
      left_out ? h("p", { class: "muted" }, `and ${count(left_out, "more statement")}`) : null,
    );
  }

  fail(message: string): void {
    fill(this.list, h("p", { class: "error" }, message));
  }
}
