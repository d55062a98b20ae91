// One run, or two side by side, walked through with keys.
import { get } from "../common/api";
import { fill, h, whenQuiet } from "../common/dom";
import type { Parting, RunTold } from "./data";
import { RunView } from "./run";
import { stepAfterKey } from "./stepper";

const QUIET = 300; // milliseconds without a step, after which the address tells the step

/**
 * Shows runs and returns a function that ends it. Two runs are shown from the step where they part, unless the address
 * names another one.
 */
export async function walkThrough(place: HTMLElement, ids: string[], wanted: number | null): Promise<() => void> {
  const [first = "", second = ""] = ids.map(encodeURIComponent);
  const [told, parting] = await Promise.all([
    Promise.all(ids.map((id) => get<RunTold>(`/api/runs/${encodeURIComponent(id)}`))),
    ids.length === 2 ? get<Parting>(`/api/runs/${first}/parting/${second}`) : Promise.resolve(null),
  ]);
  const views = told.map((one) => {
    const view: RunView = new RunView(one, (step) => go(view, step));
    return view;
  });
  // keys lead through the longest run, so that they reach every step of the others too
  const leader = views.reduce((longest, one) => (one.last > longest.last ? one : longest));

  let isOver = false;
  const rememberStep = whenQuiet(QUIET, () => {
    if (isOver) return; // the address leads elsewhere by now
    const address = new URLSearchParams(location.hash.slice(1));
    address.set("step", String(leader.step));
    history.replaceState(null, "", `#${address}`);
  });
  const go = (moved: RunView, step: number): void => {
    moved.show(step);
    for (const other of views) if (other !== moved) other.show(other.stepAtTurn(moved.turn));
    rememberStep();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = stepAfterKey(event, leader.step, leader.last);
    if (step === null) return;
    event.preventDefault();
    go(leader, step);
  };

  fill(
    place,
    h(
      "p",
      { class: "back muted" },
      h("a", { href: "#" }, "← All runs"),
      h("span", { class: "keys" }, "← → one step · Page Up and Page Down ten steps · Home and End first and last step"),
    ),
    new URLSearchParams(location.hash.slice(1)).has("from")
      ? h("p", { class: "hint", id: "kept" }, "The server ended before the play did. This is what was kept; continue it with `worldthread play --resume`.")
      : null,
    parting === null ? null : partingNote(parting, (step) => show(step)),
    h("div", { class: views.length > 1 ? "compared" : "single" }, ...views.map((one) => one.element)),
  );
  const show = (step: number): void => {
    // both took the same steps until they part, so that the number of the step is the same in both
    for (const view of views) view.show(step);
    rememberStep();
  };
  if (wanted === null && parting?.step != null) {
    for (const view of views) view.show(parting.step);
  } else {
    leader.show(wanted ?? 0);
    for (const other of views) if (other !== leader) other.show(other.stepAtTurn(leader.turn));
  }
  document.addEventListener("keydown", onKey);
  return () => {
    document.removeEventListener("keydown", onKey);
    isOver = true;
  };
}

const BY = {
  action: "the actions differ",
  observation: "the same action has another outcome",
  end: "one of them ends",
};

function partingNote({ step, by }: Parting, go: (step: number) => void): HTMLElement {
  if (step === null || by === null) return h("p", { class: "hint parting" }, "The two runs are the same, step by step.");
  return h(
    "p",
    { class: "hint parting" },
    step === 0 ? `The runs part at their first step: ${BY[by]}. ` : `The runs are the same up to step ${step - 1} and part at step ${step}: ${BY[by]}. A step in one run moves the other run to the same move. `,
    h("button", { type: "button", id: "to-parting", click: () => go(step) }, "Go to that step"),
  );
}
