// The slider and the buttons that lead through the steps of a run.
import { fill, h } from "../common/dom";

const PAGE = 10; // steps that the page keys move by

/** Where a key leads from a step; `null` when the key means nothing here. */
export function stepAfterKey(event: KeyboardEvent, step: number, last: number): number | null {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return null;
  switch (event.key) {
    case "ArrowRight":
      return step + 1;
    case "ArrowLeft":
      return step - 1;
    case "PageDown":
      return step + PAGE;
    case "PageUp":
      return step - PAGE;
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}

export class Stepper {
  readonly element = h("div");
  private readonly range: HTMLInputElement;
  private readonly position = h("p", { class: "position" });
  private readonly backwards: HTMLButtonElement[];
  private readonly forwards: HTMLButtonElement[];
  private step = 0;

  /**
   * @param turns moves made at each step
   * @param go called with the step that a person wants to see
   */
  constructor(
    private readonly turns: number[],
    go: (step: number) => void,
    private readonly what: "step" | "text" = "step",
  ) {
    const last = turns.length - 1;
    const button = (sign: string, name: string, target: () => number): HTMLButtonElement =>
      h("button", { type: "button", "aria-label": name, title: name, click: () => go(target()) }, sign);
    this.range = h("input", {
      type: "range",
      min: 0,
      max: last,
      value: 0,
      "aria-label": this.what === "text" ? "Text" : "Step",
      input: () => go(this.range.valueAsNumber),
    });
    this.backwards = [
      button("«", `First ${what}`, () => 0),
      button("‹", `The ${what} before`, () => this.step - 1),
    ];
    this.forwards = [
      button("›", `Next ${what}`, () => this.step + 1),
      button("»", `Last ${what}`, () => last),
    ];
    fill(
      this.element,
      h("div", { class: "stepper" }, ...this.backwards, this.range, ...this.forwards),
      this.position,
    );
    this.show(0);
  }

  show(step: number): void {
    const last = this.turns.length - 1;
    this.step = step;
    this.range.value = String(step);
    this.position.textContent = this.what === "text" ? `text ${step + 1} of ${last + 1}` : `step ${step} of ${last}, move ${this.turns[step] ?? 0}`;
    this.range.setAttribute("aria-valuetext", this.position.textContent);
    for (const button of this.backwards) button.disabled = step === 0;
    for (const button of this.forwards) button.disabled = step === last;
  }
}
