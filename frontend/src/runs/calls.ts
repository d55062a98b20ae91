// What the model was asked for a step, and what it answered.
import { type Child, count, fill, h } from "../common/dom";
import type { Call } from "./data";

/** The calls of the step that is shown. A message that a person opened stays open at the next step. */
export class Calls {
  readonly element = h("section", { class: "calls" });
  private readonly isOpen = new Map<string, boolean>();

  clear(): void {
    fill(this.element);
  }

  show(calls: Call[]): void {
    fill(
      this.element,
      calls.length ? h("h3", {}, "The model") : null,
      ...calls.map((call) => this.call(call)),
    );
  }

  private call(call: Call): HTMLElement {
    const tokens = (call.prompt_tokens ?? 0) + (call.completion_tokens ?? 0);
    return h(
      "article",
      { class: "card call" },
      h(
        "p",
        { class: "badges" },
        h("span", { class: "badge" }, call.purpose),
        tokens ? h("span", { class: "badge" }, count(tokens, "token")) : null,
        call.was_cut_off ? h("span", { class: "badge bad" }, "the answer was cut off") : null,
      ),
      ...call.messages.map(({ role, content }) => this.message(`prompt: ${role}`, content, false)),
      call.error === undefined
        ? this.message("answer", call.answer ?? "", true)
        : h("p", { class: "error" }, call.error),
    );
  }

  private message(title: string, text: string, isOpenAtFirst: boolean): Child {
    const details = h(
      "details",
      { open: this.isOpen.get(title) ?? isOpenAtFirst, toggle: () => this.isOpen.set(title, details.open) },
      h("summary", {}, title),
      h("p", { class: "told", dir: "auto" }, text),
    );
    return details;
  }
}
