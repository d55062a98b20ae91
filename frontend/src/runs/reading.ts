// The texts of a memory, one after the other, with what was taken from each sentence and what each text ended.
import { get, said } from "../common/api";
import { type Child, fill, h, tell, whenQuiet } from "../common/dom";
import { changes } from "../common/step";
import { namedTime } from "../common/times";
import type { ReadText, TextsTold } from "./data";
import { latestOnly } from "./latest";
import { stepAfterKey, Stepper } from "./stepper";

const QUIET = 300; // milliseconds without a step, after which the address tells the step

/** Shows the texts of a memory and returns a function that ends it. */
export async function readThrough(place: HTMLElement, key: string, first: number): Promise<() => void> {
  const path = `/api/memories/${encodeURIComponent(key)}/texts`;
  const { total } = await get<TextsTold>(path, { limit: 0 });
  const card = h("article", { class: "card step reading", "aria-live": "polite" });
  const back = h("p", { class: "back muted" }, h("a", { href: "#" }, "← All runs"), h("span", { class: "keys" }, "← → one text · Page Up and Page Down ten texts"));
  if (!total) {
    fill(place, back, h("h1", {}, "Texts that were read"), h("p", { class: "hint" }, "No text was read yet."));
    return () => undefined;
  }
  let step = 0;
  let isOver = false;
  const rememberStep = whenQuiet(QUIET, () => {
    if (isOver) return;
    history.replaceState(null, "", `#${new URLSearchParams({ read: key, step: String(step) })}`);
  });
  const load = latestOnly(async (number: number) => {
    try {
      const text = (await get<TextsTold>(path, { offset: number, limit: 1 })).texts[0];
      if (text === undefined || number !== step) return;
      fill(card, ...textParts(text, key));
      card.dataset["step"] = String(number);
      tell(null);
    } catch (error) {
      tell(said(error));
    }
  });
  const go = (wanted: number): void => {
    step = Math.min(Math.max(wanted, 0), total - 1);
    stepper.show(step);
    load(step);
    rememberStep();
  };
  const stepper = new Stepper(Array.from({ length: total }, (_, number) => number + 1), go, "text");
  const onKey = (event: KeyboardEvent): void => {
    const wanted = stepAfterKey(event, step, total - 1);
    if (wanted === null) return;
    event.preventDefault();
    go(wanted);
  };
  fill(place, back, h("h1", {}, "Texts that were read"), stepper.element, card);
  go(first);
  document.addEventListener("keydown", onKey);
  return () => {
    document.removeEventListener("keydown", onKey);
    isOver = true;
  };
}

function textParts(text: ReadText, key: string): Child[] {
  const memory = key === "file" ? "" : `memory=${encodeURIComponent(key)}&`;
  const address = (id: string): string => `/#${memory}statement=${encodeURIComponent(id)}`;
  const line = ({ id, text: said, kind }: { id: string; text: string; kind: string }): HTMLElement =>
    h(
      "li",
      {},
      h("span", { class: "tag " + (kind === "fact" ? "fact" : "thesis") }, kind === "fact" ? "statement" : "sentence"),
      h("a", { href: address(id) }, said),
    );
  const about = [text.speaker, text.source, text.reader ? `read by ${text.reader}` : "not read yet"].filter(Boolean);
  return [
    h("h3", { class: "action" }, namedTime(text.at)),
    h("p", { class: "muted" }, about.join(" · ")),
    ...text.sentences.flatMap((sentence) => {
      // a sentence that is kept as it stands need not be said twice
      const [same, others] = [sentence.statements.find((one) => one.text === sentence.text), sentence.statements.filter((one) => one.text !== sentence.text)];
      return [
        h("p", { class: "told", dir: "auto" }, same ? h("a", { href: address(same.id) }, sentence.text) : sentence.text),
        others.length ? h("ul", { class: "plain taken" }, ...others.map(line)) : null,
        sentence.statements.length ? null : h("p", { class: "muted taken" }, "no statement was taken from it"),
      ];
    }),
    text.elsewhere.length ? h("h4", {}, "From the text as a whole") : null,
    text.elsewhere.length ? h("ul", { class: "plain taken" }, ...text.elsewhere.map(line)) : null,
    changes(
      "It ended",
      "ended",
      text.ended.map((one) => [one.text, one.reason]),
    ),
    h("p", {}, h("a", { href: `/#${memory}source=${encodeURIComponent(text.id)}` }, "Open this text in the memory")),
  ];
}
